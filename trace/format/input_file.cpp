#include "trace/format/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace lockstep::trace::format {
namespace {

Error failure(const std::filesystem::path& path, const std::string& reason) {
  return Error{"cannot read trace file '" + path.string() + "': " + reason};
}

Error system_failure(const std::filesystem::path& path) {
  const char* reason = strerrordesc_np(errno);
  return failure(path, reason != nullptr ? reason : "unknown error");
}

// Reads up to to.size() bytes; fewer if the file is shorter. -1 on an error.
ssize_t read_all(int descriptor, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t result = pread(descriptor, to.data() + done, to.size() - done, static_cast<off_t>(done));
    if (result < 0 && errno == EINTR) continue;
    if (result < 0) return -1;
    if (result == 0) break;
    done += static_cast<std::size_t>(result);
  }
  return static_cast<ssize_t>(done);
}

}  // namespace

Result<std::unique_ptr<InputFile>> InputFile::open(const std::filesystem::path& path) {
  auto file = std::make_unique<InputFile>();
  do {
    // O_NONBLOCK: a named pipe without a writer must not hang us.
    file->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (file->descriptor_ < 0 && errno == EINTR);
  if (file->descriptor_ < 0) return system_failure(path);
  struct stat status {};
  if (fstat(file->descriptor_, &status) != 0) return system_failure(path);
  if (S_ISDIR(status.st_mode)) return failure(path, "it is a folder; give the file");
  if (!S_ISREG(status.st_mode)) return failure(path, "it is not a regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size <= kCopiedSize) {
    file->copy_.resize(size);
    const ssize_t got = read_all(file->descriptor_, file->copy_);
    if (got < 0) return system_failure(path);
    file->copy_.resize(static_cast<std::size_t>(got));
    file->bytes_ = file->copy_;
    return file;
  }
  void* mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor_, 0);
  if (mapping == MAP_FAILED) return system_failure(path);
  file->mapped_ = true;
  file->bytes_ = {static_cast<const std::byte*>(mapping), size};
  return file;
}

InputFile::~InputFile() {
  if (mapped_) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (descriptor_ >= 0) close(descriptor_);
}

bool InputFile::holds(std::uint64_t size) const {
  if (!mapped_) return size <= bytes_.size();
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= size;
}

}  // namespace lockstep::trace::format
