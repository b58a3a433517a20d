// Gloo and c10d put the place of their source before what went wrong: "[/pytorch/…/pair.cc:446] timed out".
// It names a folder of the machine that built them, and says nothing to who reads our message.
#pragma once

#include <regex>
#include <string>

namespace lockstep::trainer {

inline std::string without_source_places(const std::string& message) {
  static const std::regex place(R"(\[[^\[\]]*\.(cc|cpp|cu|h|hpp):[0-9]+\] ?)");
  return std::regex_replace(message, place, "");
}

}  // namespace lockstep::trainer
