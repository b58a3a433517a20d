#include "tracer/recorder/python_place.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

namespace lockstep::tracer::record {

namespace {

constexpr std::size_t kLongestPlace = 300;

struct PythonFrame {
  std::string file;
  std::string rest;      // "line 12 in next_batch"
  std::string function;  // "next_batch"
};

// One line of faulthandler's:   File "/home/a/train.py", line 12 in next_batch
std::optional<PythonFrame> parse_frame(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  const std::size_t begin = line.find(kFile);
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin + kFile.size());
  const std::size_t end = line.find("\", ");
  if (end == std::string_view::npos) return std::nullopt;
  PythonFrame frame;
  frame.file = line.substr(0, end);
  frame.rest = line.substr(end + 3);
  const std::size_t in = frame.rest.rfind(" in ");
  if (in != std::string::npos) frame.function = frame.rest.substr(in + 4);
  return frame;
}

bool is_of_a_library(const std::string& file) {
  for (const char* part : {"/site-packages/", "/dist-packages/", "/lib/python3", "/torch/"})
    if (file.find(part) != std::string::npos) return true;
  // A library's that it made while it ran, e.g. "<_remote_module_non_scriptable>.py"; not what a user typed.
  return file.starts_with('<') && file != "<stdin>" && file != "<string>" &&
         !file.starts_with("<ipython-input");
}

}  // namespace

std::string place_in_python(const std::string& stacks) {
  // The main thread is the one that the text tells of last.
  const std::size_t thread = stacks.rfind("hread 0x");
  std::istringstream lines(thread == std::string::npos ? stacks : stacks.substr(thread));
  std::optional<PythonFrame> innermost;
  std::optional<PythonFrame> own;
  for (std::string line; std::getline(lines, line) && !own.has_value();) {
    const std::optional<PythonFrame> frame = parse_frame(line);
    if (!frame.has_value()) continue;
    if (!innermost.has_value()) innermost = frame;
    if (!is_of_a_library(frame->file)) own = frame;
  }
  if (!innermost.has_value()) return {};
  const PythonFrame& shown = own.has_value() ? *own : *innermost;
  std::string text = fmt::format("\"{}\", {}", shown.file, shown.rest);
  if (own.has_value() && is_of_a_library(innermost->file))
    text += fmt::format(", inside {} of {}", innermost->function,
                        std::filesystem::path(innermost->file).filename().string());
  return text.size() > kLongestPlace ? text.substr(0, kLongestPlace) : text;
}

}  // namespace lockstep::tracer::record
