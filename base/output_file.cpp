#include "base/output_file.h"

#include <fcntl.h>
#include <stdio.h>  // renameat2
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, int error) {
  return Error{"cannot write " + path.string() + ": " +
               (error == 0 ? "the write failed" : std::strerror(error))};
}

Error already_exists(const fs::path& path) {
  return Error{path.string() + " exists: give another name with -o, or --force to overwrite it"};
}

// Where writes go in the end: links are followed, so that a link stays one.
fs::path resolve(const fs::path& target) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(target, error);
  return error || resolved.empty() ? target : resolved;
}

}  // namespace

Result<OutputPath> OutputPath::create(const fs::path& target, Overwrite overwrite) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) return Error{"cannot write " + target.string() + ": it is a folder"};
  if (fs::exists(status) && !fs::is_regular_file(status)) return OutputPath(target, target, Overwrite::allow);
  if (fs::exists(status) && overwrite == Overwrite::refuse) return already_exists(target);
  const fs::path resolved = resolve(target);
  const fs::path folder = resolved.has_parent_path() ? resolved.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    return Error{"cannot write " + target.string() + ": there is no folder " + folder.string()};
  }
  static std::atomic<unsigned> counter{0};
  fs::path temporary = resolved;
  temporary += ".part-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
  return OutputPath(resolved, std::move(temporary), overwrite);
}

OutputPath::OutputPath(OutputPath&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      overwrite_(other.overwrite_),
      open_(std::exchange(other.open_, false)) {}

OutputPath::~OutputPath() {
  if (!open_ || temporary_ == target_) return;
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

Status OutputPath::commit() {
  if (temporary_ == target_) return {};
  const bool refuse = overwrite_ == Overwrite::refuse;
  int failed =
      renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), refuse ? RENAME_NOREPLACE : 0);
  // Some file systems know no RENAME_NOREPLACE; create() has looked already.
  if (failed != 0 && (errno == EINVAL || errno == ENOSYS))
    failed = std::rename(temporary_.c_str(), target_.c_str());
  if (failed != 0) return errno == EEXIST ? already_exists(target_) : cannot_write(target_, errno);
  open_ = false;
  return {};
}

Result<OutputFile> OutputFile::create(const fs::path& target, Overwrite overwrite) {
  Result<OutputPath> path = OutputPath::create(target, overwrite);
  if (!path.ok()) return path.error();
  errno = 0;
  auto stream = std::make_unique<std::ofstream>(path.value().path(), std::ios::binary | std::ios::trunc);
  if (!*stream) return cannot_write(target, errno);
  return OutputFile(std::move(path).value(), std::move(stream));
}

Status OutputFile::finish() {
  errno = 0;
  if (stream_->is_open()) stream_->close();
  if (!*stream_) return cannot_write(path_.target(), errno);
  return {};
}

Status OutputFile::commit() {
  const Status finished = finish();
  return finished.ok() ? path_.commit() : finished;
}

}  // namespace lockstep
