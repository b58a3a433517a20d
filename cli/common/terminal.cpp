#include "cli/common/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "analyzer/report/quantity.h"
#include "base/numbers.h"
#include "base/standard_streams.h"

namespace lockstep::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kDefaultWidth = 100;
// Beyond this a report is harder to read, not easier.
constexpr std::size_t kWidestPage = 160;
constexpr std::size_t kNarrowestPage = 40;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::size_t width_of_stdout() {
  std::string_view columns = environment("COLUMNS");
  std::size_t width = take_number<std::size_t>(columns).value_or(0);
  winsize size{};
  if (width == 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    width = size.ws_col;
  return width == 0 ? kDefaultWidth : std::clamp(width, kNarrowestPage, kWidestPage);
}

// COLORFGBG is "foreground;background" in the 16 ANSI colours, where a terminal sets it.
bool has_dark_background() {
  const std::string_view colors = environment("COLORFGBG");
  const std::size_t semicolon = colors.rfind(';');
  if (semicolon == std::string_view::npos) return true;
  const std::string_view background = colors.substr(semicolon + 1);
  return background != "7" && background != "15";
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale(environment(name));
    if (locale.empty()) continue;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;  // nothing said: today's terminals are UTF-8
}

}  // namespace

analyzer::PageOptions page_options_for_stdout(std::string_view color) {
  const bool terminal = isatty(STDOUT_FILENO);
  const bool wanted = color == "always" || (color == "auto" && terminal && environment("NO_COLOR").empty() &&
                                            environment("TERM") != "dumb");
  analyzer::PageOptions options;
  options.width = width_of_stdout();
  if (wanted) {
    const std::string_view depth = environment("COLORTERM");
    options.color = depth == "truecolor" || depth == "24bit" ? analyzer::ColorDepth::true_color
                                                             : analyzer::ColorDepth::palette256;
  }
  options.dark_background = has_dark_background();
  options.ascii = terminal && !locale_is_utf8();
  return options;
}

analyzer::PageOptions page_options_for_stdout(const TextArguments& arguments) {
  analyzer::PageOptions page = page_options_for_stdout(arguments.color);
  if (arguments.width != 0) page.width = arguments.width;
  page.ascii = page.ascii || arguments.ascii;
  return page;
}

ProgressLine::ProgressLine(bool enabled)
    : enabled_(enabled && isatty(STDERR_FILENO)), start_(std::chrono::steady_clock::now()), last_(start_) {}

bool ProgressLine::due() {
  if (!enabled_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < 2s || (shown_ && now - last_ < 100ms)) return false;
  last_ = now;
  return true;
}

void ProgressLine::show(const std::string& what, std::uint64_t done_bytes, std::uint64_t total_bytes) {
  if (!due()) return;
  const std::string total = analyzer::format_bytes(static_cast<std::int64_t>(total_bytes));
  const std::string share =
      total_bytes > 0 ? fmt::format(", {} %", std::min<std::uint64_t>(100, done_bytes * 100 / total_bytes))
                      : "";
  write_to_stderr(fmt::format("\r\x1b[K{} {}{}", what, total, share));
  shown_ = true;
}

void ProgressLine::show(const std::string& what) {
  if (!due()) return;
  write_to_stderr(fmt::format("\r\x1b[K{}", what));
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) write_to_stderr("\r\x1b[K");
  shown_ = false;
}

}  // namespace lockstep::cli
