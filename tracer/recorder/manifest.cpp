#include "tracer/recorder/manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/small_file.h"
#include "trace/checked_json.h"
#include "tracer/recorder/run_folder.h"
#include "tracer/recorder/source_report.h"

namespace lockstep::tracer::record {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const RecordedFile& file) {
  Json json;
  if (file.rank >= 0) json["rank"] = file.rank;
  if (file.inherited_rank >= 0) json["helper_of_rank"] = file.inherited_rank;
  json["file"] = file.file;
  json["host"] = file.host;
  json["process"] = file.process;
  json["command"] = file.command;
  json["events"] = file.events;
  json["bytes"] = file.bytes;
  json["dropped"] = file.dropped;
  if (!file.not_recorded.empty()) json["not_recorded"] = file.not_recorded;
  if (!file.saved.empty()) json["saved"] = file.saved;
  if (file.steps_seen.has_value()) json["steps_seen"] = {file.steps_seen->first, file.steps_seen->last};
  if (file.unwritten.has_value())
    json["unwritten"] = {{"events", file.unwritten->events},
                         {"since", to_utc(file.unwritten->since)},
                         {"reason", file.unwritten->why}};
  if (file.after_death) json["written_after_death"] = true;
  if (file.survivor_ended.has_value())
    json["survivor_ended"] = {{"since", to_utc(file.survivor_ended->since)},
                              {"reason", file.survivor_ended->why}};
  if (file.cut_to.has_value()) json["cut_to_bytes"] = *file.cut_to;
  if (!file.ended.empty()) json["ended_early"] = file.ended;
  json["complete"] = file.complete;
  if (!file.problem.empty()) json["problem"] = file.problem;
  return json;
}

Json to_json(const Unrecorded& unrecorded) {
  Json json;
  json["reason"] = unrecorded.reason;
  json["processes"] = unrecorded.processes;
  json["programs"] = unrecorded.programs;
  if (!unrecorded.ranks.empty()) json["ranks"] = unrecorded.ranks;
  json["users"] = unrecorded.users;
  json["process_ids"] = unrecorded.process_ids;
  if (unrecorded.only_seen) json["seen_from_outside"] = true;
  return json;
}

Json sources(const Manifest& manifest) {
  Json all;
  for (const auto& [name, source] : report_sources(manifest)) {
    all[name] = {{"state", source.state}, {"could_not_record", source.could_not_record}};
    if (!source.reason.empty()) all[name]["reason"] = source.reason;
  }
  return all;
}

// Of the disk, when the run begins: room for the manifest at its end. That of some fifty ranks fits.
constexpr std::int64_t kReserve = 64 << 10U;

// In names of temporary files: the process, which another host or container may have too, and the time.
std::string unique_number() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format("{}{:09}", getpid(), now.tv_nsec);
}

// In the old one's place, at once.
bool replace(const std::string& temporary, const std::filesystem::path& path) {
  return rename(temporary.c_str(), path.c_str()) == 0;
}

// Where nothing is; false with EEXIST where something is. Of several that try at once, one succeeds, on
// network file systems too.
bool put_in_place(const std::string& temporary, const std::filesystem::path& path) {
  if (link(temporary.c_str(), path.c_str()) == 0) {
    unlink(temporary.c_str());
    return true;
  }
  if (errno == EEXIST) {
    // NFS may ask twice, and hear of its own success.
    struct stat state {};
    const bool ours = stat(temporary.c_str(), &state) == 0 && state.st_nlink == 2;
    if (ours) unlink(temporary.c_str());
    errno = EEXIST;
    return ours;
  }
  // A file system without links: an empty file keeps the place.
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return false;
  close(file);
  return replace(temporary, path);
}

using Placing = bool (*)(const std::string& temporary, const std::filesystem::path& path);

// In a file of its own that then takes its place by `place`, so that nobody reads half of it. False: what was
// there already keeps the place.
Result<bool> write_beside(const std::string& text, const std::filesystem::path& path, std::int64_t reserve,
                          Placing place) {
  // Recorders on several hosts, or in several containers, may have the same number.
  const std::string temporary = fmt::format("{}.{}.part", path.string(), unique_number());
  const auto failed = [&](const char* what) {
    Error error{fmt::format("cannot {} '{}': {}", what, path.string(), std::strerror(errno))};
    unlink(temporary.c_str());
    return error;
  };
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return failed("create");
  // What takes an older one's place is on the disk first: a machine that is lost within half a minute would
  // have neither (docs/reliability.md).
  if (!write_whole(file, text) || (place == replace && !put_on_disk(file))) {
    const int reason = errno;
    close(file);
    errno = reason;
    return failed("write");
  }
  // Not every file system can; then there is none.
  if (reserve > 0) (void)fallocate(file, FALLOC_FL_KEEP_SIZE, 0, reserve);
  if (close(file) != 0 && errno != EINTR) return failed("write");
  if (place(temporary, path)) return true;
  if (errno != EEXIST) return failed("create");
  unlink(temporary.c_str());
  return false;
}

// In the old one's place on the disk, where there is no more room; only if all of it fits there.
bool write_over(const std::string& text, const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);  // a named pipe is not waited for
  if (file < 0) return false;
  const auto size = static_cast<off_t>(text.size());
  const bool written = fallocate(file, FALLOC_FL_KEEP_SIZE, 0, size) == 0 && write_whole(file, text) &&
                       ftruncate(file, size) == 0;
  return close(file) == 0 && written;
}

}  // namespace

std::string to_utc(std::int64_t nanoseconds_since_1970) {
  const auto seconds = static_cast<time_t>(nanoseconds_since_1970 / 1'000'000'000);
  tm broken_down{};
  gmtime_r(&seconds, &broken_down);
  std::array<char, 32> text{};
  strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &broken_down);
  return fmt::format("{}.{:03}Z", text.data(), nanoseconds_since_1970 / 1'000'000 % 1000);
}

std::string to_json(const Manifest& manifest) {
  Json json;
  json["format"] = kManifestFormat;
  json["lockstep_version"] = LOCKSTEP_VERSION;
  json["state"] = manifest.ending.has_value() ? "finished" : "running";
  json["command"] = manifest.command;
  json["working_folder"] = manifest.working_folder;
  for (const auto& [name, value] : manifest.environment) json["environment"][name] = value;
  json["host"] = manifest.host;
  if (!manifest.launch.empty()) json["launch"] = manifest.launch;
  if (manifest.recorder.rank >= 0) json["recorder_of_rank"] = manifest.recorder.rank;
  json["recorder_process"] = getpid();
  json["start"] = to_utc(manifest.start_realtime);
  json["start_realtime"] = manifest.start_realtime;
  if (manifest.ending.has_value()) {
    json["end"] = to_utc(manifest.end_realtime);
    json["end_realtime"] = manifest.end_realtime;
    const Ending& ending = *manifest.ending;
    json["exit_code"] = ending.signal == 0 ? Json(ending.exit_code) : Json(nullptr);
    json["signal"] = ending.signal != 0
                         ? Json{{"number", ending.signal}, {"name", signal_name(ending.signal)}}
                         : Json(nullptr);
    if (ending.interruption.has_value()) {
      const Interruption& interruption = *ending.interruption;
      json["interrupted"] = {
          {"signal", {{"number", interruption.signal}, {"name", signal_name(interruption.signal)}}},
          {"time", to_utc(interruption.realtime)},
          {"time_realtime", interruption.realtime}};
    }
  }
  if (!manifest.injection.empty()) json["injection"] = manifest.injection;
  std::int32_t world_size = manifest.recorder.world_size;
  if (manifest.recording.has_value()) {
    const Recording& recording = *manifest.recording;
    if (recording.world_size > 0) world_size = recording.world_size;
    if (world_size > 0) json["world_size"] = world_size;
    json["ranks"] = Json::array();
    for (const RecordedFile& file : recording.ranks) json["ranks"].push_back(to_json(file));
    json["processes"] = Json::array();
    for (const RecordedFile& file : recording.processes) json["processes"].push_back(to_json(file));
    json["missing_ranks"] = recording.missing_ranks;
    for (const Unrecorded& unrecorded : manifest.unrecorded)
      json["unrecorded"].push_back(to_json(unrecorded));
    if (recording.restarts > 0) {
      json["restarts"] = recording.restarts;
      json["earlier_attempts"] = recording.earlier_attempts;
    }
    json["topology"] = Json::array();
    for (const auto& [host, ranks] : recording.hosts())
      json["topology"].push_back({{"host", host}, {"ranks", ranks}});
    json["groups"] = Json::array();
    for (const trace::Group& group : recording.groups) {
      json["groups"].push_back({{"name", group.name}, {"ranks", group.ranks}});
      if (!group.description.empty()) json["groups"].back()["description"] = group.description;
    }
    json["events"] = recording.events;
    json["bytes"] = recording.bytes;
    json["dropped"] = recording.dropped;
    std::map<std::string, std::set<std::string>> clocks;
    for (const auto* files : {&recording.ranks, &recording.processes}) {
      for (const RecordedFile& file : *files) clocks[file.host].insert(file.clock_source);
    }
    json["clock_sources"] = clocks;
  } else if (world_size > 0) {
    json["world_size"] = world_size;
  }
  for (const CollectedFrom& from : manifest.collected)
    json["collected_from"].push_back(
        {{"folder", from.folder}, {"host", from.host}, {"command", from.command}});
  json["sources"] = sources(manifest);
  // Commands and host names are bytes; what isn't UTF-8 is replaced, since JSON can't hold it.
  return trace::with_checksum(json.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string manifest_name(const Manifest& manifest) {
  return manifest.place.empty() ? std::string(kManifestName)
                                : fmt::format("manifest-{}.json", manifest.place);
}

bool speaks_for_all(const Manifest& manifest) {
  // Rank 0 has a place with a name only after a restart. A recorder of a node has no rank.
  return manifest.place.empty() || manifest.recorder.rank == 0;
}

Status write_manifest(const Manifest& manifest, const std::filesystem::path& folder) {
  const std::string text = to_json(manifest);
  const std::filesystem::path path = folder / manifest_name(manifest);
  const Result<bool> written = write_beside(text, path, manifest.ending.has_value() ? 0 : kReserve, replace);
  if (written.ok()) return {};
  // A full disk is what the manifest has to tell of.
  if (manifest.ending.has_value() && write_over(text, path)) return {};
  return written.error();
}

Result<bool> create_manifest(const Manifest& manifest, const std::filesystem::path& folder) {
  return write_beside(to_json(manifest), folder / manifest_name(manifest), kReserve, put_in_place);
}

}  // namespace lockstep::tracer::record
