// A file mapped for reading.
//
// Touching a page of a mapping whose file has shrunk kills the process (SIGBUS). Trace files of ours never
// shrink, so this takes someone else to truncate the file while it is read; holds() asks the kernel before
// each chunk is touched and turns that into an error, except in the instant between the question and the
// reading. Small files are copied and are safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace lockstep::trace::format {

class InputFile {
 public:
  // Files of at most this many bytes are read into memory instead.
  static constexpr std::uint64_t kCopiedSize = 256U << 10;

  static Result<std::unique_ptr<InputFile>> open(const std::filesystem::path& path);

  InputFile() = default;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  // True if the first `size` bytes are still there.
  bool holds(std::uint64_t size) const;

 private:
  int descriptor_ = -1;
  std::span<const std::byte> bytes_;
  std::vector<std::byte> copy_;
  bool mapped_ = false;
};

}  // namespace lockstep::trace::format
