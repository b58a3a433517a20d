// ASCII letters in lower case, for what people type; other bytes stay.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace lockstep::viewer {

inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& character : result)
    character = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  return result;
}

}  // namespace lockstep::viewer
