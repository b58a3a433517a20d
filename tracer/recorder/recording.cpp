#include "tracer/recorder/recording.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/numbers.h"
#include "trace/compact.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/process_state.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::tracer::record {

namespace {

std::int32_t number_or_none(const std::string& text) {
  return parse_number<std::int32_t>(text).value_or(-1);
}

// "EVENTS SINCE WHY", as environment.h says.
std::optional<RecordedFile::Unwritten> parse_unwritten(const std::string& text) {
  const std::size_t end = text.find_last_not_of(' ');
  if (end == std::string::npos) return std::nullopt;
  RecordedFile::Unwritten unwritten;
  std::istringstream words(text.substr(0, end + 1));
  if (!(words >> unwritten.events >> unwritten.since)) return std::nullopt;
  std::getline(words >> std::ws, unwritten.why);
  return unwritten;
}

// "SINCE WHY", as environment.h says.
std::optional<RecordedFile::SurvivorEnded> parse_survivor_ended(const std::string& text) {
  RecordedFile::SurvivorEnded ended;
  std::istringstream words(text);
  if (!(words >> ended.since)) return std::nullopt;
  std::getline(words >> std::ws, ended.why);
  return ended;
}

void take_from_name(RecordedFile& file) {
  file.rank = rank_of_file_name(file.file).value_or(-1);
  file.restart = restart_of_file_name(file.file);
}

RecordedFile read_file(const std::filesystem::path& path) {
  RecordedFile file;
  file.file = path.filename().string();
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error) file.bytes = size;
  Result<trace::Reader> opened = trace::Reader::open(path);
  if (!opened.ok()) {
    take_from_name(file);
    file.unreadable = true;
    file.problem = opened.error().message;
    return file;
  }
  const trace::Reader& reader = opened.value();
  const auto& metadata = reader.metadata();
  const auto text = [&](const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
  };
  file.rank = number_or_none(text("rank"));
  file.restart = std::max(number_or_none(text("restart")), 0);
  // A file that lost what it says of itself has its name.
  if (text("process").empty()) take_from_name(file);
  file.inherited_rank = number_or_none(text("inherited_rank"));
  file.world_size = number_or_none(text("world_size"));
  file.host = text("host");
  file.process = text("process");
  file.command = text("command");
  file.clock_source = text("clock_source");
  constexpr std::string_view kSource = "source.";
  for (const auto& [key, value] : metadata) {
    if (!key.starts_with(kSource)) continue;
    const std::string name = key.substr(kSource.size(), key.find('.', kSource.size()) - kSource.size());
    if (key == std::string(kSource) + name)
      file.sources[name].state = value == "recording" ? "recorded" : value;
    if (key == std::string(kSource) + name + ".problem") file.sources[name].problem = value;
  }
  file.ended = text("control.ended");
  file.unwritten = parse_unwritten(text(kUnwrittenKey));
  if (file.unwritten.has_value() && file.unwritten->events != 0)
    file.dropped[kNotWritten] = file.unwritten->events;
  if (const std::string cut = text(trace::kCutFromOutside); !cut.empty())
    file.cut_to = parse_number<std::uint64_t>(cut).value_or(0);
  file.steps_seen = control::parse_steps(text("control.steps_seen"));
  for (std::size_t number = 1;; ++number) {
    const auto found = metadata.find("control.saved." + std::to_string(number));
    if (found == metadata.end()) break;
    file.saved.push_back(found->second);
  }
  file.groups = reader.groups();
  file.complete = reader.complete();
  file.after_death = !text(trace::kWrittenAfterDeath).empty();
  file.no_survivor = !text(kNoSurvivorKey).empty();
  file.survivor_ended = parse_survivor_ended(text(kSurvivorEndedKey));
  file.chunks = reader.chunks().size();
  using trace::EventKind;
  for (const EventKind kind :
       {EventKind::host_range, EventKind::mark, EventKind::counter, EventKind::device_activity,
        EventKind::api_call, EventKind::collective, EventKind::step, EventKind::collective_issue}) {
    file.events += reader.count(kind);
  }
  file.steps_and_collectives = reader.count(EventKind::step) + reader.count(EventKind::collective);
  file.device_activities = reader.count(EventKind::device_activity);
  const Result<std::vector<trace::OpenRange>> open = reader.unfinished_ranges();
  if (open.ok()) file.events += open.value().size();
  const Status drops = reader.read<trace::Drop>({}, [&](const trace::Drop& drop) {
    const std::string reason(reader.string(drop.reason));
    if (drop.count != 0) {
      file.dropped[reason] += drop.count;
    } else if (std::find(file.not_recorded.begin(), file.not_recorded.end(), reason) ==
               file.not_recorded.end()) {
      file.not_recorded.push_back(reason);
    }
  });
  if (!drops.ok()) file.problem = drops.error().message;
  return file;
}

// A group that several ranks speak of is one group; descriptions may differ.
std::vector<trace::Group> distinct_groups(const std::vector<RecordedFile>& files) {
  using Key = std::tuple<std::size_t, const std::string&, const std::vector<std::int32_t>&>;
  const auto key = [](const trace::Group& group) {
    return Key(~group.ranks.size(), group.name, group.ranks);  // ~: larger ones first
  };
  std::vector<trace::Group> groups;
  for (const RecordedFile& file : files) groups.insert(groups.end(), file.groups.begin(), file.groups.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const trace::Group& a, const trace::Group& b) { return key(a) < key(b); });
  groups.erase(std::unique(groups.begin(), groups.end(),
                           [&](const trace::Group& a, const trace::Group& b) { return key(a) == key(b); }),
               groups.end());
  return groups;
}

// Those of recorders that were killed while they made them; of this host's files alone, since another's
// processes have numbers of their own.
void remove_left_copies(const std::filesystem::path& folder,
                        const std::set<std::string, std::less<>>& files) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::optional<trace::CopyName> copy = trace::parse_copy_name(name);
    if (!copy.has_value() || !files.contains(copy->file) || lives(copy->process)) continue;
    std::error_code ignored;
    std::filesystem::remove(entry->path(), ignored);
  }
}

}  // namespace

std::uint64_t Recording::dropped_events() const {
  std::uint64_t sum = 0;
  for (const auto& [reason, count] : dropped) sum += count;
  return sum;
}

std::map<std::string, std::vector<std::int32_t>> Recording::hosts() const {
  std::map<std::string, std::vector<std::int32_t>> hosts;
  for (const RecordedFile& file : ranks)
    if (!file.unreadable) hosts[file.host].push_back(file.rank);
  return hosts;
}

std::map<std::string, Recording::Source> Recording::sources() const {
  std::map<std::string, Source> sources;
  std::map<std::string, std::set<std::string>> states;
  for (const auto* files : {&ranks, &processes}) {
    for (const RecordedFile& file : *files) {
      for (const auto& [name, source] : file.sources) {
        states[name].insert(source.state);
        Source& known = sources[name];
        if (!source.problem.empty()) ++known.problems[source.problem];
      }
    }
  }
  for (const auto& [name, of] : states) {
    std::string& text = sources[name].state;
    for (const std::string& state : of) text += (text.empty() ? "" : ", ") + state;
  }
  return sources;
}

std::size_t Recording::incomplete_files() const {
  const auto incomplete = [](const RecordedFile& file) { return file.is_incomplete(); };
  return static_cast<std::size_t>(std::count_if(ranks.begin(), ranks.end(), incomplete) +
                                  std::count_if(processes.begin(), processes.end(), incomplete));
}

std::size_t Recording::unreadable_files() const {
  const auto unreadable = [](const RecordedFile& file) { return file.unreadable; };
  return static_cast<std::size_t>(std::count_if(ranks.begin(), ranks.end(), unreadable) +
                                  std::count_if(processes.begin(), processes.end(), unreadable));
}

void compact_files(const std::filesystem::path& folder, std::string_view host, std::int32_t rank,
                   std::chrono::seconds longest) {
  using Clock = std::chrono::steady_clock;
  const auto enough = [end = Clock::now() + longest] { return Clock::now() >= end; };
  // Larger files have large chunks anyway, and the user waits for us.
  constexpr std::uint64_t kLargest = std::uint64_t{512} << 20U;
  constexpr std::uint64_t kGoodChunk = 4096;  // events
  std::set<std::string, std::less<>> ours;
  for (const std::filesystem::path& path : trace_files(folder)) {
    const RecordedFile file = read_file(path);
    if (file.host != host || (rank >= 0 && file.rank != rank)) continue;
    ours.insert(path.filename().string());
    if (!file.complete || !file.problem.empty() || file.bytes > kLargest) continue;
    if (file.events > kGoodChunk * file.chunks || enough()) continue;
    const Result<bool> smaller = trace::compact(path.c_str(), enough);
    (void)smaller.ok();  // the file as it was is as good
  }
  remove_left_copies(folder, ours);
}

Recording read_recording(const std::filesystem::path& folder, std::int32_t world_size) {
  Recording recording;
  recording.world_size = std::max(world_size, 0);
  std::error_code unlisted;
  const std::vector<std::filesystem::path> paths = trace_files(folder, &unlisted);
  if (unlisted) throw std::system_error(unlisted, "cannot look into '" + folder.string() + "'");
  for (const std::filesystem::path& path : paths) {
    RecordedFile file = read_file(path);
    recording.events += file.events;
    recording.bytes += file.bytes;
    for (const auto& [reason, count] : file.dropped) recording.dropped[reason] += count;
    if (const std::int32_t process = number_or_none(file.process); process >= 0)
      recording.process_ids.insert(process);
    else
      ++recording.files_without_process;
    // A helper of a rank knows it as well.
    if (file.rank >= 0 || file.inherited_rank >= 0)
      recording.world_size = std::max(recording.world_size, file.world_size);
    (file.rank >= 0 ? recording.ranks : recording.processes).push_back(std::move(file));
  }
  // Of workers that torchrun started anew, the last ones are the ranks.
  for (const RecordedFile& file : recording.ranks)
    recording.restarts = std::max(recording.restarts, file.restart);
  for (const RecordedFile& file : recording.ranks)
    if (file.restart < recording.restarts) recording.earlier_attempts.push_back(file.file);
  std::erase_if(recording.ranks,
                [&recording](const RecordedFile& file) { return file.restart < recording.restarts; });
  std::sort(recording.ranks.begin(), recording.ranks.end(),
            [](const RecordedFile& a, const RecordedFile& b) { return a.rank < b.rank; });
  recording.groups = distinct_groups(recording.ranks);
  for (std::int32_t rank = 0; rank < recording.world_size; ++rank) {
    const bool found = std::any_of(recording.ranks.begin(), recording.ranks.end(),
                                   [rank](const RecordedFile& file) { return file.rank == rank; });
    if (!found) recording.missing_ranks.push_back(rank);
  }
  return recording;
}

}  // namespace lockstep::tracer::record
