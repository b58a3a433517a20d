#include "tracer/inject/sources/pytorch/process_groups.h"

#include <mutex>
#include <optional>
#include <vector>

#include "tracer/inject/sources/pytorch/active.h"
#include "tracer/inject/sources/pytorch/backend_calls.h"
#include "tracer/inject/sources/pytorch/backend_works.h"
#include "tracer/inject/sources/pytorch/loaded_library.h"

namespace lockstep::tracer::pytorch {

namespace {

constexpr std::size_t kLongestTable = 128;

// Replaces the entries of the class that are not replaced yet. Says which methods were not found.
std::string redirect_class(std::size_t index, void** table) {
  const BackendClass& backend = kClasses[index];
  const std::optional<LoadedLibrary> library = LoadedLibrary::find(backend.library);
  if (!library.has_value()) return std::string(backend.library) + " is not loaded";
  std::string missing;
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    if (originals[index][m].load() != nullptr) continue;
    const std::string name = std::string(backend.prefix) + kMethods[m].name;
    void* const method = library->symbol(name.c_str());
    if (method == nullptr) continue;  // this class, or version, has no such method
    originals[index][m].store(reinterpret_cast<Call>(method));
    if (!replace_virtual(table, kLongestTable, method, reinterpret_cast<void*>(kReplacements[index][m]))) {
      originals[index][m].store(nullptr);
      missing += (missing.empty() ? "" : ", ") + std::string(to_string(kMethods[m].operation));
    }
  }
  if (originals[index][0].load() == nullptr)
    return "this version of " + std::string(backend.library) + " has no all-reduce that we know";
  return missing.empty() ? missing : "could not be followed: " + missing;
}

// Global ranks as runs of equal distance.
std::vector<RankRun> runs_of(std::span<const std::int32_t> ranks) {
  std::vector<RankRun> runs;
  for (const std::int32_t rank : ranks) {
    if (!runs.empty()) {
      RankRun& last = runs.back();
      const std::int32_t next = rank - (last.first + last.stride * (last.count - 1));
      if (last.count == 1 || next == last.stride) {
        last.stride = next;
        ++last.count;
        continue;
      }
    }
    runs.push_back({rank, 0, 1});
  }
  return runs;
}

}  // namespace

std::string declare_group(void* backend, std::string_view backend_name, std::string_view name,
                          std::string_view description, std::span<const std::int32_t> ranks, bool known) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::vector<RankRun> runs = runs_of(ranks);
  constexpr std::size_t kMaxText = 512;
  name = name.substr(0, kMaxText);
  description = description.substr(0, kMaxText);
  GroupRecord record;
  record.backend = reinterpret_cast<std::uintptr_t>(backend);
  record.size = static_cast<std::uint32_t>(ranks.size());
  record.name_bytes = static_cast<std::uint16_t>(name.size());
  record.description_bytes = static_cast<std::uint16_t>(description.size());
  const std::size_t room = kMaxBodyBytes - sizeof record - name.size() - description.size();
  record.run_count = runs.size() * sizeof(RankRun) <= room ? static_cast<std::uint32_t>(runs.size()) : 0;
  std::string more(name);
  more += description;
  more.append(reinterpret_cast<const char*>(runs.data()), record.run_count * sizeof(RankRun));
  const SourceId source = active_source.load();
  if (source == Tracer::kNoSource) return {};
  emit_always(source, static_cast<std::uint8_t>(RecordType::group), &record, sizeof record, more.data(),
              static_cast<std::uint32_t>(more.size()));
  if (known) return {};
  if (!follow_group(backend, record.size)) return "there are more process groups than can be followed";
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    if (backend_name != kClasses[i].name) continue;
    // The works first: one may be over as soon as its call is noted.
    const std::string works = follow_works_of(backend_name);
    const std::string calls = redirect_class(i, *static_cast<void***>(backend));
    return calls.empty() || works.empty() ? calls + works : calls + "; " + works;
  }
  return "collectives of the backend '" + std::string(backend_name) + "' are not followed";
}

}  // namespace lockstep::tracer::pytorch
