// The text that the trainer learns: bytes of one file, or of all text files of a folder.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace lockstep::trainer {

struct Text {
  std::string bytes;
  std::string source;  // where it came from, for messages and the log
  int files = 0;
};

// Reads a file, or every regular file under a folder in the order of their paths, joined by a newline. Hidden
// files and folders are left out, and so are files that hold a zero byte in their first 4 KiB (they are not
// text). Errors name the path: it does not exist, cannot be read, or holds no text.
Result<Text> load_text(const std::filesystem::path& path);

// The documentation of this project: README.md and docs/*.md, looked for as an installation holds them
// (share/lockstep beside the executable's bin/), then above the executable as in a source tree with its build
// folder inside, then where the source tree was when this was built.
Result<Text> load_documentation();

}  // namespace lockstep::trainer
