// A command line as it can be pasted into a shell.
#pragma once

#include <span>
#include <string>

namespace lockstep {

// A word as it is, or within quotation marks where a shell would take it for something else.
std::string for_shell(const std::string& word);

// A command: its words, with a space between.
std::string for_shell(std::span<const std::string> words);

}  // namespace lockstep
