#include "tracer/recorder/read_manifest.h"

#include "base/small_file.h"

namespace lockstep::tracer::record {

nlohmann::json read_manifest(const std::filesystem::path& path) {
  return nlohmann::json::parse(read_small_file(path.string(), kWholeFile), nullptr, false);
}

}  // namespace lockstep::tracer::record
