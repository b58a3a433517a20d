#include "trace/format/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace lockstep::trace::format {
namespace {

const char* advice(int error_number) {
  switch (error_number) {
    case EEXIST:
      return ": choose another path, or remove it first";
    case ENOENT:
      return ": create its folder first";
    case EACCES:
    case EPERM:
    case EROFS:
      return ": choose a folder that can be written to";
    case ENOSPC:
    case EDQUOT:
      return ": free some space, or record to another disk";
    case EBADF:
      return ": the program has closed its descriptor";
    case EFBIG:
      return ": raise the file size limit (ulimit -f)";
    default:
      return "";
  }
}

// Writing beyond RLIMIT_FSIZE raises SIGXFSZ, which would kill the process that we are a guest of.
std::uint64_t file_size_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

// A program that closes all descriptors and opens files of its own gets the lowest numbers: ours is none of
// these, or between asking whose it is and writing it could become another's. Not higher than need be, since
// the kernel's table grows with it.
int moved_up(int descriptor) {
  constexpr rlim_t kNumber = 900, kBelowLimit = 32;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= 2 * kBelowLimit) return descriptor;
  const auto number = static_cast<int>(std::min(kNumber, limit.rlim_cur - kBelowLimit));
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, number);
  if (moved < 0) return descriptor;
  ::close(descriptor);
  return moved;
}

}  // namespace

Error OutputFile::failure(const char* what, int error_number) const {
  // strerror_r in its POSIX and its GNU form differ; strerrordesc_np is neither locale-dependent nor shared.
  const char* reason = strerrordesc_np(error_number);
  return Error{std::string("cannot ") + what + " trace file '" + path_ +
               "': " + (reason != nullptr ? reason : "unknown error") + advice(error_number)};
}

Status OutputFile::create(const char* path, bool exclusive) {
  path_ = path;
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (exclusive ? O_EXCL : O_TRUNC);
  do {
    descriptor_ = open(path, flags, 0666);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) return failure("create", errno);
  descriptor_ = moved_up(descriptor_);
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) return failure("create", errno);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return {};
}

bool OutputFile::is_still_ours() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool OutputFile::hold() {
  if (descriptor_ < 0) return false;
  if (is_still_ours()) return true;
  // Not blocking: something else may have taken the file's place, a FIFO for one.
  const int descriptor = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return false;
  const int before = std::exchange(descriptor_, descriptor);
  if (is_still_ours() && lseek(descriptor, static_cast<off_t>(written_), SEEK_SET) >= 0) {
    descriptor_ = moved_up(descriptor);
    return true;
  }
  ::close(descriptor);
  descriptor_ = before;  // the program's: is_still_ours() goes on saying so
  return false;
}

Status OutputFile::write_buffer() {
  return write_from(0);
}

Status OutputFile::resume_writing() {
  if (buffer_.empty()) return {};
  struct stat status {};
  if (!hold() || fstat(descriptor_, &status) != 0) return failure("write", EBADF);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  // Somebody has cut it, or written to it.
  if (size < begun_at_ || size - begun_at_ > buffer_.size()) return failure("write", EIO);
  written_ = size;
  if (lseek(descriptor_, status.st_size, SEEK_SET) < 0) return failure("write", errno);
  return write_from(static_cast<std::size_t>(size - begun_at_));
}

// The buffer's bytes from number `done` on.
Status OutputFile::write_from(std::size_t done) {
  Status status;
  const std::uint64_t limit = file_size_limit();
  if (done < buffer_.size() && !hold()) status = failure("write", EBADF);
  bool held_again = false;  // closed since: once, or it is a number under which nothing can be written
  while (done < buffer_.size() && status.ok()) {
    const std::uint64_t room = limit > written_ ? limit - written_ : 0;
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size() - done, room));
    const ssize_t result = size > 0 ? write(descriptor_, buffer_.data() + done, size) : -1;
    if (result > 0) {
      done += static_cast<std::size_t>(result);
      written_ += static_cast<std::uint64_t>(result);
    } else if (size == 0) {
      status = failure("write", EFBIG);
    } else if (result == 0) {
      status = failure("write", ENOSPC);
    } else if (const int error = errno; error == EBADF && !held_again) {
      held_again = hold();
      if (!held_again) status = failure("write", error);
    } else if (error != EINTR) {
      status = failure("write", error);
    }
  }
  buffer_.clear();
  begun_at_ = written_;
  return status;
}

Status OutputFile::overwrite(std::uint64_t position, std::span<const std::byte> bytes) {
  if (position + bytes.size() > file_size_limit()) return failure("write", EFBIG);
  if (!hold()) return failure("write", EBADF);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t result =
        pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(position + done));
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) return failure("write", result < 0 ? errno : EIO);
    done += static_cast<std::size_t>(result);
  }
  return {};
}

std::optional<std::uint64_t> OutputFile::cut_to() {
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return cut_to_;
  if (status.st_dev != device_ || status.st_ino != inode_) return cut_to_;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < written_) cut_to_ = std::min(cut_to_.value_or(size), size);
  return cut_to_;
}

Status OutputFile::close() {
  buffer_ = {};
  if (descriptor_ < 0) return {};
  const bool ours = is_still_ours();
  const int descriptor = std::exchange(descriptor_, -1);
  if (!ours) return failure("close", EBADF);
  // Not retried after EINTR: on Linux the descriptor is gone by then.
  if (::close(descriptor) != 0 && errno != EINTR) return failure("close", errno);
  return {};
}

void OutputFile::abandon() {
  buffer_ = {};
  if (descriptor_ < 0) return;
  const bool ours = is_still_ours();
  const int descriptor = std::exchange(descriptor_, -1);
  if (ours) ::close(descriptor);
}

}  // namespace lockstep::trace::format
