#include "analyzer/import/nsys/nsys.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/import/nsys/database.h"
#include "analyzer/import/nsys/processes.h"
#include "analyzer/import/nsys/tables.h"
#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/rank/training_mark.h"

namespace lockstep::analyzer::nsys {
namespace {

Status check(const Database& database, const std::string& file) {
  if (database.has("META_DATA_EXPORT") || database.has("StringIds") || database.has("NVTX_EVENTS")) return {};
  return Error{
      fmt::format("{}: a SQLite file, but no export of nsys: it has none of the tables "
                  "META_DATA_EXPORT, StringIds and NVTX_EVENTS",
                  file)};
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

void join_launches(Process& process, DeviceOfProcess& device) {
  RankTrace& trace = device.import.trace;
  for (Activity& activity : trace.activities) {
    const std::int64_t correlation = std::exchange(activity.launch_begin, kUnknownTime);
    if (correlation == kUnknownTime) continue;
    const Launch* const launch = process.launches.find(correlation);
    if (launch == nullptr) continue;
    activity.launch_begin = launch->begin;
    activity.launch_end = launch->end;
    if (activity.communication == kNone) continue;
    const Operation around = process.ranges.operation_at(launch->thread, launch->begin);
    if (around != Operation::unknown) trace.communications[activity.communication].operation = around;
  }
  for (Activity& activity : trace.activities) {
    if (activity.communication != kNone &&
        is_point_to_point(trace.communications[activity.communication].operation))
      activity.activity_class = Class::p2p;
  }
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

void warn(const Report& report, RankImport& import) {
  for (const std::string& damage : report.damage) {
    import.warn("file_damaged", fmt::format("{}: {}; the rows before are used", report.file, damage));
    import.trace.lost.push_back({-kLatest, kLatest});
  }
  if (report.dropped > 0) {
    import.warn("events_dropped",
                fmt::format("{}: {} dropped: without times, or with an end before the start", report.file,
                            counted(report.dropped, "event was", "events were")));
    import.trace.dropped_events += report.dropped;
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
  read_strings(database, report);
  read_session(database, report);
  read_device_tables(database, report);
  drop_idle_devices(report);
  if (report.devices.empty()) {
    return Error{report.damage.empty() ? fmt::format("{}: the report holds no GPU activity: record it with "
                                                     "`nsys profile --trace=cuda,nvtx`",
                                                     report.file)
                                       : fmt::format("{}: no GPU activity could be read: {}", report.file,
                                                     report.damage.front())};
  }
  read_launches(database, options.keep_host_ranges, report);
  read_ranges(database, options.keep_host_ranges, report);
  read_thread_names(database, report);
  for (auto& [process, of] : report.processes) {
    of.launches.close();
    of.ranges.close();
  }
  std::vector<RankImport> ranks;
  std::vector<std::vector<PassRange>> passes;  // of each rank
  for (auto& [key, device] : report.devices) {
    describe(report, key.second, device.import);
    Process& process = report.processes[key.first];
    join_launches(process, device);
    take_host_ranges(process, device);
    if (!process.training.empty()) take_training_mark(process.training, device.import);
    device.import.trace.steps = process.steps;
    passes.push_back(process.passes);
    ranks.push_back(std::move(device.import));
  }
  number_ranks(report.file, ranks);
  warn(report, ranks.front());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    finish(ranks[i]);
    give_passes(std::move(passes[i]), ranks[i].trace);
  }
  return ranks;
}

}  // namespace lockstep::analyzer::nsys
