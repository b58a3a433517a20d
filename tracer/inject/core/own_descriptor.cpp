#include "tracer/inject/core/own_descriptor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace lockstep::tracer {

OwnDescriptor::OwnDescriptor(int number) : number_(number) {
  struct stat status {};
  if (number_ < 0 || fstat(number_, &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

OwnDescriptor::OwnDescriptor(OwnDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), device_(other.device_), inode_(other.inode_) {}

OwnDescriptor& OwnDescriptor::operator=(OwnDescriptor&& other) noexcept {
  if (this == &other) return *this;
  close();
  number_ = std::exchange(other.number_, -1);
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

int OwnDescriptor::number() const {
  struct stat status {};
  if (number_ < 0 || fstat(number_, &status) != 0) return -1;
  return status.st_dev == device_ && status.st_ino == inode_ ? number_ : -1;
}

void OwnDescriptor::close() {
  const int ours = number();
  number_ = -1;
  if (ours >= 0) ::close(ours);
}

}  // namespace lockstep::tracer
