// Text that came out of other people's processes: names may hold any bytes. Reports and exports must not
// break on them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/printable.h"

namespace lockstep::analyzer {

// True if `text` is well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_valid_utf8(std::string_view text);

// The same text with every byte that is not part of well-formed UTF-8 replaced by U+FFFD. Valid text is
// returned unchanged.
std::string to_valid_utf8(std::string_view text);

using lockstep::printable;

// Columns that valid UTF-8 takes on a terminal: 2 for East Asian wide characters and emoji, 0 for combining
// marks.
std::size_t display_width(std::string_view text);

// `text` if it fits into `columns`, else its beginning with "…" ("..." if `ascii`) as the last characters.
std::string fit(std::string_view text, std::size_t columns, bool ascii = false);

// Everything outside ASCII becomes its nearest ASCII spelling where the reports use it ("µs" is "us", "·" is
// "-"), and
// "?" otherwise. For --ascii.
std::string to_ascii(std::string_view text);

}  // namespace lockstep::analyzer
