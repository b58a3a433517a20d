// How a file begins, uncompressed: what importers tell their files by.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace lockstep::analyzer {

class FileBeginning {
 public:
  // Error: the file can't be opened. One that is damaged within its first bytes is as long as what can be
  // read of it: its reader tells of the damage.
  static Result<FileBeginning> read(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  // The first bytes, 4 KiB at most.
  std::string_view bytes() const { return bytes_; }
  // The same without a byte order mark.
  std::string_view text() const;
  // The first `size` bytes: read anew, for kinds that are told by what stands further on.
  Result<std::string> further(unsigned size) const;
  // The file from its first byte on, in pieces, until `take` wants no more, `most` bytes were given or
  // nothing more can be read: for kinds that are told by what may stand anywhere. A piece is valid during the
  // call.
  void read_on(std::uint64_t most, const std::function<bool(std::string_view piece)>& take) const;

 private:
  FileBeginning(std::filesystem::path path, std::string bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}

  std::filesystem::path path_;
  std::string bytes_;
};

}  // namespace lockstep::analyzer
