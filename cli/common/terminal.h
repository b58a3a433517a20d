// What the terminal can show, and a progress line on it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/report/page.h"

namespace lockstep::cli {

// How a report on stdout should look, `color` being what --color says (describe_color in parse.h). Width:
// COLUMNS, else the terminal's, else 100. Colour: on a terminal only, unless chosen; never with NO_COLOR or
// TERM=dumb, unless chosen. Unicode unless the locale says otherwise on a terminal.
analyzer::PageOptions page_options_for_stdout(std::string_view color);

// What a verb that prints tables may be told of their looks (describe_text in parse.h).
struct TextArguments {
  std::string color = "auto";
  std::size_t width = 0;  // 0: page_options_for_stdout()'s
  bool ascii = false;
};
analyzer::PageOptions page_options_for_stdout(const TextArguments& arguments);

// Shows how far something is, on stderr, if that is a terminal and only after two seconds. The line goes away
// with the object.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  // "reading 45 % (1.20 of 2.70 GB)"
  void show(const std::string& what, std::uint64_t done_bytes, std::uint64_t total_bytes);
  void show(const std::string& what);
  void clear();

 private:
  bool due();

  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace lockstep::cli
