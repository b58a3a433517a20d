// Text that somebody else chose (names of files, hosts, kernels), for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Valid UTF-8 without control characters: those are shown as \n, \t or \x1B, so that a name can't move the
// cursor or colour the terminal; a byte that is not part of well-formed UTF-8 becomes U+FFFD. What is
// printable stays as it is.
std::string printable(std::string_view text);

}  // namespace lockstep
