#include "tracer/doctor/versions.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"

namespace lockstep::tracer::doctor {

namespace {

// "580.65.06": digits, a dot, digits and perhaps more of both.
bool is_driver_version(std::string_view word) {
  const std::size_t dot = word.find('.');
  if (dot == std::string_view::npos || dot < 2 || dot + 1 == word.size()) return false;
  return std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; });
}

}  // namespace

std::string CudaVersion::text() const {
  return major == 0 ? "unknown" : std::to_string(major) + "." + std::to_string(minor);
}

CudaVersion cuda_version_of_driver(int version) {
  if (version < 1000) return {};
  return {version / 1000, version % 1000 / 10};
}

CudaVersion cuda_version_of_cupti(int version) {
  if (version >= 130000) return {version / 10000, version / 100 % 100};
  struct Row {
    int api;
    CudaVersion cuda;
  };
  static constexpr auto kFrom = std::to_array<Row>({{28, {12, 9}},
                                                    {27, {12, 9}},
                                                    {26, {12, 8}},
                                                    {24, {12, 6}},
                                                    {23, {12, 5}},
                                                    {22, {12, 4}},
                                                    {21, {12, 3}},
                                                    {20, {12, 2}},
                                                    {19, {12, 0}},
                                                    {18, {11, 8}},
                                                    {17, {11, 6}},
                                                    {16, {11, 5}},
                                                    {15, {11, 2}},
                                                    {14, {11, 1}},
                                                    {13, {11, 0}},
                                                    {12, {10, 0}}});
  for (const Row& row : kFrom) {
    if (version >= row.api) return row.cuda;
  }
  return {};
}

std::string NcclVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

NcclVersion nccl_version(int version) {
  // Two digits for the minor version since 2.9.
  if (version >= 10000) return {version / 10000, version / 100 % 100, version % 100};
  return {version / 1000, version / 100 % 10, version % 100};
}

std::string driver_version(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t", i);
    if (begin == std::string_view::npos) break;
    i = std::min(line.size(), line.find_first_of(" \t", begin));
    if (const std::string_view word = line.substr(begin, i - begin); is_driver_version(word)) {
      return std::string(word);
    }
  }
  return {};
}

std::string value_of_line(std::string_view text, std::string_view name) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.size(), text.find('\n', begin));
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return std::string(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
  }
  return {};
}

}  // namespace lockstep::tracer::doctor
