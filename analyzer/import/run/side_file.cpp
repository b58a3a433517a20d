#include "analyzer/import/run/side_file.h"

#include <string>

#include "base/small_file.h"
#include "trace/checked_json.h"

namespace lockstep::analyzer::run {

nlohmann::json parse_side_file(const std::filesystem::path& path, bool* changed) {
  const std::string text = read_small_file(path.string(), kLongestSideFile + 1);
  if (changed != nullptr) *changed = !trace::matches_checksum(text);
  if (text.empty() || text.size() > kLongestSideFile)
    return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace lockstep::analyzer::run
