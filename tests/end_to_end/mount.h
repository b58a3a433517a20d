// A small file system of its own for a test; not mounted where that isn't allowed.
#pragma once

#include <sys/mount.h>
#include <sys/stat.h>

#include <string>

namespace lockstep::end_to_end {

class Mount {
 public:
  // A tmpfs; `options` as mount(8) takes them: "size=256k".
  Mount(const std::string& path, unsigned long flags, const char* options) : path_(path) {
    ::mkdir(path.c_str(), 0755);
    mounted_ = ::mount("none", path.c_str(), "tmpfs", flags, options) == 0;
  }
  ~Mount() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

}  // namespace lockstep::end_to_end
