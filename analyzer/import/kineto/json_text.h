// Where JSON values end: just enough structure to cut a long text into pieces that simdjson then parses and
// checks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::analyzer::kineto {

inline constexpr std::size_t kIncomplete = static_cast<std::size_t>(-1);

// First index at or after `from` that holds no white space; text.size() if there is none.
std::size_t skip_space(std::string_view text, std::size_t from);

// Index one past the value that begins at `from` (no white space there). kIncomplete if the text ends within
// it, also where a number or word touches the text's end and could go on. Objects and arrays are matched by
// counting brackets outside strings.
std::size_t value_end(std::string_view text, std::size_t from);

// The last index after a `}` that another object follows (`} , {`), searched backwards from the text's end;
// npos if there is none. It is a guess at the end of an array's element: it may lie in a string or in a
// nested array.
std::size_t last_object_boundary(std::string_view text);

// Replaces bytes that are no UTF-8 by '?' and control characters within strings by a space, and returns how
// many it replaced. `text` begins outside a string.
std::size_t repair_text(char* text, std::size_t size);

// The text that the inside of a JSON string stands for; the inside itself where its escapes are broken.
std::string unescape(std::string_view inside);

}  // namespace lockstep::analyzer::kineto
