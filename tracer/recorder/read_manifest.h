// Manifests as other recorders wrote them, or anybody: what stands in one is not relied upon.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace lockstep::tracer::record {

// Discarded where there is none that can be read, or no JSON in it. Waits for nobody: a named pipe is none.
// `changed` becomes whether it has a checksum that is not its own (trace/checked_json.h).
nlohmann::json read_manifest(const std::filesystem::path& path, bool* changed = nullptr);

// Of an object's member; `otherwise` where it has none, or one of another type.
template <class Value>
Value value_of(const nlohmann::json& json, const char* key, Value otherwise) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (!json.is_object() || found == json.end()) return otherwise;
  try {
    return found->get<Value>();
  } catch (const nlohmann::json::exception&) {
    return otherwise;
  }
}

}  // namespace lockstep::tracer::record
