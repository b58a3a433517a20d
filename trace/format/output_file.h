// A file that is only appended to, through a buffer, with few system calls. After the first failure nothing
// more is written. Where the program that we are a guest of has closed the descriptor, and perhaps opened
// something else under its number, nothing is written to that, nor is it closed: the file is opened again by
// its path, if that still leads to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::trace::format {

class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() { abandon(); }

  // The error names the file, the reason and what to do.
  Status create(const char* path, bool exclusive);

  // What is not in the kernel's hands yet. Append to it; position() is where its end will stand in the file.
  std::vector<std::byte>& buffer() { return buffer_; }
  std::uint64_t position() const { return written_ + buffer_.size(); }
  std::uint64_t written() const { return written_; }

  // Writes the buffer and empties it, whatever becomes of it; written() says how much reached the file.
  Status write_buffer();
  // Goes on with a write_buffer() of which nobody knows how far it came, since its thread is gone: what the
  // file already has of the buffer is not written again.
  Status resume_writing();
  // Replaces what was written already: takes no space, and works where nothing more can be written.
  Status overwrite(std::uint64_t position, std::span<const std::byte> bytes);
  // Looks whether somebody has cut the file since: it is shorter than what was written. The least size seen.
  std::optional<std::uint64_t> cut_to();
  Status close();
  // Closes the descriptor and drops the buffer.
  void abandon();
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  // Whether the descriptor is this file's, or could be had again where the program has closed it.
  bool hold();
  const std::string& path() const { return path_; }

 private:
  Error failure(const char* what, int error_number) const;
  bool is_still_ours() const;
  Status write_from(std::size_t done);

  int descriptor_ = -1;
  std::uint64_t device_ = 0, inode_ = 0;  // what it was when we opened it
  std::string path_;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t begun_at_ = 0;  // where the buffer's first byte stands, also while it is being written
  std::optional<std::uint64_t> cut_to_;
};

}  // namespace lockstep::trace::format
