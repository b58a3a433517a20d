#include "reference_trainer/modes/zero/swap_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace lockstep::trainer {

SwapFile::SwapFile(std::string folder, std::string key) : folder_(std::move(folder)), key_(std::move(key)) {
  std::string path = folder_ + "/lockstep-offload-XXXXXX";
  file_ = mkostemp(path.data(), O_CLOEXEC);
  if (file_ < 0) fail("create", errno);
  unlink(path.c_str());
}

SwapFile::~SwapFile() {
  close(file_);
}

void SwapFile::fail(const char* doing, int error) const {
  throw std::runtime_error(key_ + " '" + folder_ + "': cannot " + doing +
                           " a file: " + (error == 0 ? "it is shorter than it was" : std::strerror(error)));
}

void SwapFile::write(std::int64_t offset, const void* bytes, std::size_t count) {
  for (const char* from = static_cast<const char*>(bytes); count > 0;) {
    const ssize_t done = pwrite(file_, from, count, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write", errno);
    from += done;
    offset += done;
    count -= static_cast<std::size_t>(done);
  }
}

void SwapFile::read(std::int64_t offset, void* bytes, std::size_t count) {
  for (char* to = static_cast<char*>(bytes); count > 0;) {
    const ssize_t done = pread(file_, to, count, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("read", done < 0 ? errno : 0);
    to += done;
    offset += done;
    count -= static_cast<std::size_t>(done);
  }
}

}  // namespace lockstep::trainer
