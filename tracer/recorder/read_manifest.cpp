#include "tracer/recorder/read_manifest.h"

#include <string>

#include "base/small_file.h"
#include "trace/checked_json.h"

namespace lockstep::tracer::record {

nlohmann::json read_manifest(const std::filesystem::path& path, bool* changed) {
  const std::string text = read_small_file(path.string(), kWholeFile);
  if (changed != nullptr) *changed = !trace::matches_checksum(text);
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace lockstep::tracer::record
