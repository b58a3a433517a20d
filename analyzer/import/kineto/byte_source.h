// The bytes of a file, plain or gzip, in order and in pieces of the caller's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"

namespace lockstep::analyzer::kineto {

class ByteSource {
 public:
  // Errors: the file is missing, is no regular file, can't be read.
  static Result<ByteSource> open(const std::filesystem::path& path);
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Fills `out` as far as there is data; less than `size` only at the end. Never fails: what is wrong with
  // the rest of the file is in problem() afterwards.
  std::size_t read(char* out, std::size_t size);

  // "" or what ended the data early: "the gzip data is cut short after 1234 bytes".
  const std::string& problem() const;
  bool compressed() const;
  std::uint64_t file_size() const;  // bytes on disk
  std::uint64_t file_done() const;  // of them, how many were used up

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::analyzer::kineto
