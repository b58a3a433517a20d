// Files that appear whole or not at all: written under a temporary name beside the target, then renamed.
//
//   Result<OutputFile> file = OutputFile::create("run.json", Overwrite::refuse);
//   file.value().stream() << …;
//   Status status = file.value().commit();
//
// Without commit() nothing is left behind. Devices and pipes (/dev/stdout, a FIFO) are written directly.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/result.h"

namespace lockstep {

enum class Overwrite { refuse, allow };

// A name to write to, and the target it becomes.
class OutputPath {
 public:
  // Errors: the target exists and may not be overwritten, is a folder, or its folder does not exist.
  static Result<OutputPath> create(const std::filesystem::path& target, Overwrite overwrite);
  OutputPath(OutputPath&& other) noexcept;
  OutputPath& operator=(OutputPath&&) = delete;
  ~OutputPath();

  const std::filesystem::path& path() const { return temporary_; }  // write here
  const std::filesystem::path& target() const { return target_; }
  Status commit();

 private:
  OutputPath(std::filesystem::path target, std::filesystem::path temporary, Overwrite overwrite)
      : target_(std::move(target)), temporary_(std::move(temporary)), overwrite_(overwrite) {}

  std::filesystem::path target_, temporary_;
  Overwrite overwrite_;
  bool open_ = true;
};

class OutputFile {
 public:
  static Result<OutputFile> create(const std::filesystem::path& target, Overwrite overwrite);

  std::ostream& stream() { return *stream_; }
  // Writes what is buffered and closes. Errors name the file and the reason ("No space left on device").
  Status finish();
  // The same, and gives the file its name.
  Status commit();

 private:
  OutputFile(OutputPath path, std::unique_ptr<std::ofstream> stream)
      : path_(std::move(path)), stream_(std::move(stream)) {}

  OutputPath path_;
  std::unique_ptr<std::ofstream> stream_;
};

}  // namespace lockstep
