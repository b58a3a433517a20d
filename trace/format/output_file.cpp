#include "trace/format/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
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
  return {};
}

Status OutputFile::write_buffer() {
  Status status;
  std::size_t done = 0;
  const std::uint64_t limit = file_size_limit();
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
    } else if (errno != EINTR) {
      status = failure("write", errno);
    }
  }
  buffer_.clear();
  return status;
}

Status OutputFile::overwrite(std::uint64_t position, std::span<const std::byte> bytes) {
  if (position + bytes.size() > file_size_limit()) return failure("write", EFBIG);
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

Status OutputFile::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  buffer_ = {};
  // Not retried after EINTR: on Linux the descriptor is gone by then.
  if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR) return failure("close", errno);
  return {};
}

void OutputFile::abandon() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  buffer_ = {};
}

}  // namespace lockstep::trace::format
