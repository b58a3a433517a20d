// Files that may vanish while they are read: /proc's of a process that ends, a network disk's.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace lockstep::tracer::record {

// What can be read of it; empty where nothing can. Never throws for what the file does: a stream's buffer
// read directly (istreambuf_iterator) does, the stream itself does not.
inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lockstep::tracer::record
