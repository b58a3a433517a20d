// Memory in a file: what ZeRO offloads to "nvme". The file has no name from the beginning, so that it is gone
// with the process, however that ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep::trainer {

class SwapFile {
 public:
  // In an existing folder. `key` is the configuration's key that named the folder, for messages. Errors, here
  // and later, are std::runtime_error with key, folder and the system's reason.
  SwapFile(std::string folder, std::string key);
  ~SwapFile();
  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;

  void write(std::int64_t offset, const void* bytes, std::size_t count);
  void read(std::int64_t offset, void* bytes, std::size_t count);

 private:
  [[noreturn]] void fail(const char* doing, int error) const;

  std::string folder_, key_;
  int file_ = -1;
};

}  // namespace lockstep::trainer
