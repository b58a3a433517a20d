// Tables of what the processes' threads did.
#include <algorithm>

#include "analyzer/import/nsys/tables.h"
#include "analyzer/import/rank/training_mark.h"
#include "base/numbers.h"

namespace lockstep::analyzer::nsys {
namespace {

// ENUM_NSYS_EVENT_TYPE: NvtxMark, NvtxPushPopRange, NvtxStartEndRange.
constexpr std::int64_t kMark = 34;
constexpr std::int64_t kPushPop = 59;
constexpr std::int64_t kStartEnd = 60;

void end_of(const Rows& rows, Report& report) {
  if (!rows.problem().empty()) report.damage.push_back(rows.problem());
}

// Only of processes that use a device: the others are launchers and tools.
Process* process_with_device(std::int64_t global_id, Report& report) {
  const std::int64_t process = process_of(global_id);
  const auto device = report.devices.lower_bound({process, INT64_MIN});
  if (device == report.devices.end() || device->first.first != process) return nullptr;
  Process& found = report.processes[process];
  found.pid = pid_of(global_id);
  return &found;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "step", "train_step", "Train iteration", "TrainStep"; not "footstep".
bool ends_with_step(std::string_view word) {
  for (const std::string_view ending : {"step", "Step", "iteration", "Iteration", "iter", "Iter"}) {
    if (!word.ends_with(ending)) continue;
    word.remove_suffix(ending.size());
    constexpr std::size_t kLongestPrefix = 9;
    return word.size() <= kLongestPrefix && (word.empty() || !is_letter(word.back()) || ending[0] < 'a');
  }
  return false;
}

// "ProfilerStep#12", "step 12", "iteration_12", "Train step: 12"; or "step" with a payload.
std::optional<std::int64_t> step_of(std::string_view name, std::optional<std::int64_t> payload) {
  if (const auto step = profiler_step(name)) return step;
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  std::string_view word = name.substr(0, digits);
  while (!word.empty() && std::string_view(" _#:-=").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  if (!ends_with_step(word)) return std::nullopt;
  if (digits == name.size()) return payload;
  return parse_number<std::int64_t>(name.substr(digits));
}

// Of read_ranges' columns: "text", else the text that "textId" names; 0 is a text's number too.
std::string_view range_name(const Rows& rows, const Report& report) {
  constexpr std::size_t kText = 3, kTextId = 4;
  if (!rows.is_null(kText)) return rows.text(kText);
  return rows.is_null(kTextId) ? std::string_view() : report.string(rows.integer(kTextId));
}

}  // namespace

void read_strings(Database& database, Report& report) {
  Rows rows(database, "StringIds", {"id", "value"});
  while (rows.next()) report.strings.emplace(rows.integer(0), rows.text(1));
  end_of(rows, report);
}

void read_session(Database& database, Report& report) {
  if (const auto utc = database.value("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")) {
    std::string_view text = *utc;
    const auto ns = take_number<std::int64_t>(text);
    if (ns && *ns > 0 && *ns < kLatest) report.realtime_of_zero = *ns;
  }
  report.host = database.value("TARGET_INFO_SYSTEM_ENV", "value", "name", "Hostname").value_or("");
}

void read_launches(Database& database, bool keep_all, Report& report) {
  Rows rows(database, "CUPTI_ACTIVITY_KIND_RUNTIME",
            {"start", "end", "globalTid", "correlationId", "nameId"});
  std::unordered_map<std::int64_t, bool> launches;  // by the number of the name
  while (rows.next()) {
    Process* const process = process_with_device(rows.integer(2), report);
    if (process == nullptr || !report.take_times(rows.given_integer(0), rows.integer(1))) continue;
    const auto [known, fresh] = launches.try_emplace(rows.integer(4), false);
    if (fresh) known->second = launches_work(report.string(rows.integer(4)));
    const std::uint32_t thread = thread_of(rows.integer(2));
    if (known->second && rows.integer(3) != 0)
      process->launches.add({rows.integer(0), rows.integer(1), rows.integer(3), thread});
    if (!keep_all && !process->kept.keeps(rows.integer(0), rows.integer(1))) continue;
    process->host_ranges.push_back({rows.integer(0), rows.integer(1), thread,
                                    process->names.intern(report.string(rows.integer(4))),
                                    known->second ? HostKind::launch : HostKind::other});
  }
  end_of(rows, report);
}

void read_ranges(Database& database, bool keep_all, Report& report) {
  Rows rows(database, "NVTX_EVENTS",
            {"start", "end", "eventType", "text", "textId", "globalTid", "uint64Value", "int64Value"});
  while (rows.next()) {
    const std::int64_t type = rows.integer(2);
    if (type == kMark) {
      const std::string_view name = range_name(rows, report);
      Process* const process =
          is_training_mark(name) ? process_with_device(rows.integer(5), report) : nullptr;
      if (process != nullptr) process->training = name;
      continue;
    }
    if ((type != kPushPop && type != kStartEnd) || rows.is_null(0) || rows.is_null(1)) continue;
    Process* const process = process_with_device(rows.integer(5), report);
    if (process == nullptr || !report.take_times(rows.integer(0), rows.integer(1))) continue;
    const std::string_view name = range_name(rows, report);
    const std::uint32_t thread = thread_of(rows.integer(5));
    report.nameless_ranges += name.empty();
    // PyTorch's `nccl:all_reduce`, NCCL's own `ncclAllReduce`.
    if (name.starts_with("nccl") || trace::communication_range(name))
      process->ranges.add({thread, rows.integer(0), rows.integer(1), operation_in_name(name)});
    const std::optional<NamedPass> pass = microbatch_pass(name);
    if (pass) process->passes.push_back({rows.integer(0), rows.integer(1), *pass});
    std::optional<std::int64_t> value;
    for (const std::size_t column : {6, 7})
      if (!value && !rows.is_null(column)) value = rows.integer(column);
    HostKind kind = HostKind::other;
    const std::optional<std::int64_t> step = pass ? std::nullopt : step_of(name, value);  // "forward_step 3"
    if (step) {
      kind = HostKind::step;
      process->steps.push_back({*step, rows.integer(0), rows.integer(1)});
    } else if (names_data_loading(name)) {
      kind = HostKind::data_loading;
    }
    if (kind == HostKind::other && !keep_all && !process->kept.keeps(rows.integer(0), rows.integer(1), name))
      continue;
    process->host_ranges.push_back(
        {rows.integer(0), rows.integer(1), thread, process->names.intern(name), kind});
  }
  end_of(rows, report);
}

void read_thread_names(Database& database, Report& report) {
  Rows rows(database, "ThreadNames", {"globalTid", "nameId"});
  while (rows.next()) {
    const auto process = report.processes.find(process_of(rows.integer(0)));
    if (process == report.processes.end() || rows.is_null(1)) continue;
    process->second.thread_names[thread_of(rows.integer(0))] = report.string(rows.integer(1));
  }
  end_of(rows, report);
}

}  // namespace lockstep::analyzer::nsys
