#include "analyzer/import/nsys/nsys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/import/nsys/database.h"
#include "analyzer/import/nsys/processes.h"
#include "analyzer/import/nsys/schema.h"
#include "analyzer/import/nsys/tables.h"
#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/rank/settle_communication.h"
#include "analyzer/import/rank/training_mark.h"
#include "base/counts.h"

namespace lockstep::analyzer::nsys {
namespace {

Status check(const Database& database, const std::string& file) {
  if (database.has("META_DATA_EXPORT") || database.has("StringIds") || database.has("NVTX_EVENTS")) return {};
  return Error{
      fmt::format("{}: a SQLite file, but no export of nsys: it has none of the tables "
                  "META_DATA_EXPORT, StringIds and NVTX_EVENTS",
                  file)};
}

// A time that is no number would be zero, and every figure wrong.
Status check_types(const Database& database, const std::string& file) {
  if (database.wrong_type().empty()) return {};
  return Error{fmt::format("{}: {}: export the report again (`nsys export --type sqlite`)", file,
                           database.wrong_type())};
}

// A process that runs kernels on one device may still copy to others, or hold a context there: only devices
// with kernels are ranks. Where none runs any, those that do anything.
void drop_idle_devices(Report& report) {
  const bool any_kernels = std::any_of(report.devices.begin(), report.devices.end(),
                                       [](const auto& one) { return one.second.kernels > 0; });
  std::erase_if(report.devices, [&](const auto& one) {
    return any_kernels ? one.second.kernels == 0 : one.second.activities == 0;
  });
}

// A kernel that was launched before the recording began has no range that names its operation: it is what all
// others of its name on its stream are, if they agree. (One SendRecv kernel serves all-to-alls and messages.)
void name_like_the_others(RankTrace& trace, const std::vector<bool>& named) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Operation> known;  // by lane and name; unknown: several
  for (const Activity& activity : trace.activities) {
    if (activity.communication == kNone || !named[activity.communication]) continue;
    const Operation operation = trace.communications[activity.communication].operation;
    const auto [where, fresh] = known.try_emplace({activity.lane, activity.name}, operation);
    if (where->second != operation) where->second = Operation::unknown;
  }
  for (const Activity& activity : trace.activities) {
    if (activity.communication == kNone || activity.launch_begin != kUnknownTime) continue;
    const auto others = known.find({activity.lane, activity.name});
    if (others != known.end() && others->second != Operation::unknown)
      trace.communications[activity.communication].operation = others->second;
  }
}

void join_launches(Process& process, DeviceOfProcess& device) {
  RankTrace& trace = device.import.trace;
  std::vector<bool> named(trace.communications.size(), false);
  for (Activity& activity : trace.activities) {
    const std::int64_t correlation = std::exchange(activity.launch_begin, kUnknownTime);
    if (correlation == kUnknownTime) continue;
    const Launch* const launch = process.launches.find(correlation);
    if (launch == nullptr) continue;
    activity.launch_begin = launch->begin;
    activity.launch_end = launch->end;
    if (activity.communication == kNone) continue;
    const Operation around = process.ranges.operation_at(launch->thread, launch->begin);
    if (around == Operation::unknown) continue;
    trace.communications[activity.communication].operation = around;
    named[activity.communication] = true;
  }
  name_like_the_others(trace, named);
  for (Activity& activity : trace.activities) {
    if (activity.communication != kNone &&
        is_point_to_point(trace.communications[activity.communication].operation))
      activity.activity_class = Class::p2p;
  }
}

// Where rows are missing, no device was measured from the first missing one on: what other tables still tell
// would stretch the time over which they idled.
void end_at_damage(Nanoseconds lost_from, RankTrace& trace) {
  if (lost_from == kLatest) return;
  trace.lost.push_back({lost_from, kLatest});
  if (lost_from == -kLatest) return;  // rows in no order: any may be missing
  std::vector<Activity> activities;
  std::vector<Communication> communications;
  for (Activity& activity : trace.activities) {
    if (activity.end >= lost_from) continue;
    if (activity.communication != kNone) {
      communications.push_back(trace.communications[activity.communication]);
      communications.back().activity = static_cast<std::uint32_t>(activities.size());
      activity.communication = static_cast<std::uint32_t>(communications.size() - 1);
    }
    activities.push_back(activity);
  }
  trace.activities = std::move(activities);
  trace.communications = std::move(communications);
}

void take_host_ranges(const Process& process, DeviceOfProcess& device) {
  RankImport& import = device.import;
  std::map<std::uint32_t, std::uint32_t> lanes;
  for (const RangeOfProcess& range : process.host_ranges) {
    const auto [where, fresh] =
        lanes.try_emplace(range.thread, static_cast<std::uint32_t>(import.trace.lanes.size()));
    if (fresh) {
      const auto name = process.thread_names.find(range.thread);
      import.trace.lanes.push_back({trace::LaneKind::host_thread, range.thread,
                                    name != process.thread_names.end() && !name->second.empty()
                                        ? name->second
                                        : fmt::format("thread {}", range.thread)});
    }
    import.trace.host_ranges.push_back({range.begin, range.end,
                                        import.strings.intern(process.names.view(range.name)), where->second,
                                        0, range.kind});
  }
}

void describe(const Report& report, std::int64_t device, RankImport& import) {
  import.source = "nsys";
  import.trace.file = report.file;
  import.trace.host = report.host;
  import.trace.device = fmt::format("cuda:{}", device);
  import.trace.clock.evidence = "same host";
  import.realtime_of_zero = report.realtime_of_zero;
  // All processes of a report count from its start.
  import.clock_name = "nsys " + report.file;
}

// What holds for the report as a whole is said once.
void warn(const Report& report, std::size_t nameless, std::vector<RankImport>& ranks) {
  RankImport& first = ranks.front();
  if (!report.damage.empty())
    first.warn("file_damaged", fmt::format("{}: {}; the rows before are used. Export the report again",
                                           report.file, fmt::join(report.damage, "; ")));
  for (const std::string& lack : report.lacks)
    first.warn("table_missing", fmt::format("{}: {}", report.file, lack));
  if (nameless > 0)
    first.warn("kernels_without_name",
               fmt::format("{}: {} without a name in table StringIds: neither computation nor communication, "
                           "nobody knows; export the report again (`nsys export --type sqlite`)",
                           report.file, format_plural(nameless, "kernel is", "kernels are")));
  if (report.dropped > 0) {
    first.warn("events_dropped",
               fmt::format("{}: {} dropped: without times, or with an end before the start", report.file,
                           format_plural(report.dropped, "event was", "events were")));
    first.trace.dropped_events += report.dropped;
  }
}

// One rank alone may be named by its file; several are numbered as they stand.
void number_ranks(const std::string& file, std::vector<RankImport>& ranks) {
  const std::optional<std::int32_t> named = rank_in_file_name(file);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].rank_known = true;
    ranks[i].rank_is_assumed = ranks.size() > 1 || !named;
    ranks[i].trace.rank = ranks[i].rank_is_assumed ? static_cast<std::int32_t>(i) : *named;
  }
}

}  // namespace

Result<std::vector<RankImport>> import_file(const std::filesystem::path& path, const Options& options) {
  Result<Database> opened = Database::open(path);
  if (!opened.ok()) return opened.error();
  Database& database = opened.value();
  Report report;
  report.file = path.string();
  if (const Status status = check(database, report.file); !status.ok()) return status.error();
  check_schema(database, report);
  if (!database.damage().empty()) report.damage.push_back(database.damage());
  read_strings(database, report);
  read_session(database, report);
  read_device_tables(database, report);
  drop_idle_devices(report);
  if (const Status status = check_types(database, report.file); !status.ok()) return status.error();
  if (const Status status = check_kernels(database, report); !status.ok()) return status.error();
  read_launches(database, options.keep_host_ranges, report);
  read_ranges(database, options.keep_host_ranges, report);
  check_ranges(database, report);
  read_thread_names(database, report);
  if (const Status status = check_types(database, report.file); !status.ok()) return status.error();
  for (auto& [process, of] : report.processes) {
    of.launches.close();
    of.ranges.close();
  }
  std::vector<RankImport> ranks;
  std::size_t nameless = 0;
  std::vector<std::vector<PassRange>> passes;  // of each rank
  for (auto& [key, device] : report.devices) {
    describe(report, key.second, device.import);
    nameless += device.nameless;
    Process& process = report.processes[key.first];
    end_at_damage(report.lost_from, device.import.trace);
    join_launches(process, device);
    take_host_ranges(process, device);
    if (!process.training.empty()) take_training_mark(process.training, device.import);
    device.import.trace.steps = process.steps;
    passes.push_back(process.passes);
    ranks.push_back(std::move(device.import));
  }
  number_ranks(report.file, ranks);
  warn(report, nameless, ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    settle_communication(ranks[i], options.communication);
    finish(ranks[i]);
    give_passes(std::move(passes[i]), ranks[i].trace);
  }
  return ranks;
}

}  // namespace lockstep::analyzer::nsys
