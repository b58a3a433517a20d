// Trace Event Format: what chrome://tracing, ui.perfetto.dev and many scripts read. pid is the rank, tid the
// lane.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "analyzer/export/export.h"
#include "analyzer/export/exporters.h"
#include "analyzer/export/slices.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

// A JSON string, quotes included.
std::string json_string(std::string_view text) {
  return nlohmann::json(to_valid_utf8(text)).dump();
}

// Nanoseconds as microseconds, exact: "12.345".
std::string microseconds(std::uint64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

class ChromeWriter {
 public:
  ChromeWriter(const Timeline& timeline, std::ostream& out)
      : timeline_(timeline), zero_(timeline.earliest_time()), out_(out) {}

  void write() {
    out_ << R"({"displayTimeUnit": "ns", "otherData": {"producer": "lockstep")";
    if (const auto& realtime = timeline_.job().realtime_of_zero) {
      // A string: readers that take JSON numbers for doubles would lose its last digits.
      out_ << fmt::format(R"(, "ns_since_1970_of_ts_0": "{}")", *realtime + zero_);
    }
    out_ << "},\n\"traceEvents\": [";
    for (std::size_t r = 0; r < timeline_.job().ranks.size() && out_; ++r) write_rank(r);
    out_ << "\n]}\n";
  }

 private:
  void event(const std::string& members) {
    out_ << (first_ ? "\n{" : ",\n{") << members << '}';
    first_ = false;
  }

  void metadata(const char* name, std::int32_t pid, std::uint32_t tid, const std::string& arguments) {
    event(fmt::format(R"("ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{{}}})", name, pid, tid,
                      arguments));
  }

  void write_rank(std::size_t rank_index) {
    const RankTrace& rank = timeline_.job().ranks[rank_index];
    metadata("process_name", rank.rank, 0, fmt::format(R"("name": {})", json_string(name_of_rank(rank))));
    metadata("process_sort_index", rank.rank, 0, fmt::format(R"("sort_index": {})", rank.rank));
    const std::vector<Track> tracks = timeline_.tracks_of_rank(rank_index);
    for (std::uint32_t t = 0; t < tracks.size(); ++t) {
      metadata("thread_name", rank.rank, t, fmt::format(R"("name": {})", json_string(tracks[t].name)));
      metadata("thread_sort_index", rank.rank, t, fmt::format(R"("sort_index": {})", t));
    }
    for (std::uint32_t t = 0; t < tracks.size(); ++t) {
      for (const Slice& slice : tracks[t].slices) {
        timeline_.describe(rank_index, tracks[t].kind, slice, details_);
        write_slice(rank.rank, t, slice);
      }
    }
    for (const CounterTrack& counter : rank.counters) {
      for (const CounterPoint& point : counter.points) {
        if (!std::isfinite(point.value)) continue;  // JSON has no such numbers
        event(fmt::format(R"("ph": "C", "name": {}, "pid": {}, "ts": {}, "args": {{"value": {}}})",
                          json_string(counter.name), rank.rank, microseconds(difference(point.time, zero_)),
                          nlohmann::json(point.value).dump()));
      }
    }
  }

  void write_slice(std::int32_t pid, std::uint32_t tid, const Slice& slice) {
    const std::string begin = microseconds(difference(slice.begin, zero_));
    std::string arguments;
    for (const auto& [key, value] : details_.arguments) {
      arguments += fmt::format(R"({}"{}": {})", arguments.empty() ? "" : ", ", key, to_json(value));
    }
    event(fmt::format(
        R"("ph": "X", "name": {}, "cat": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}})",
        json_string(details_.name), json_string(details_.category), pid, tid, begin,
        microseconds(difference(slice.end, slice.begin)), arguments));
    if (details_.flow == FlowPlace::none) return;
    const char phase = details_.flow == FlowPlace::first ? 's' : details_.flow == FlowPlace::last ? 'f' : 't';
    event(fmt::format(
        R"("ph": "{}", "name": "collective", "cat": "collective", "id": {}, "pid": {}, "tid": {}, "ts": {}{})",
        phase, details_.flow_id, pid, tid, begin, phase == 's' ? "" : R"(, "bp": "e")"));
  }

  static std::string to_json(const ArgumentValue& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return json_string(*text);
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    return nlohmann::json(std::get<double>(value)).dump();
  }

  static std::uint64_t difference(Nanoseconds later, Nanoseconds earlier) {
    return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
  }

  const Timeline& timeline_;
  const Nanoseconds zero_;
  std::ostream& out_;
  bool first_ = true;
  SliceDetails details_;
};

}  // namespace

void write_chrome(const Job& job, const Analysis& analysis, std::ostream& out) {
  const Timeline timeline(job, analysis);
  ChromeWriter(timeline, out).write();
}

constinit const Exporter exporters::chrome{
    .name = "chrome",
    .title = "Chrome JSON",
    .description = "Trace Event Format for chrome://tracing, ui.perfetto.dev and scripts (FILE.json)",
    .ending = ".chrome.json",  // so that rank0.json does not become its own export
    .opened_with = "ui.perfetto.dev",
    .write_stream = [](const Job& job, const Analysis& analysis, const ExportOptions& /*options*/,
                       std::ostream& out) { write_chrome(job, analysis, out); },
};

}  // namespace lockstep::analyzer
