// Tables that show the job itself: everything that was recorded.
#include <array>
#include <string_view>

#include "analyzer/export/tables.h"

namespace lockstep::analyzer {
namespace {

using enum ColumnType;

const char* to_string(HostKind kind) {
  switch (kind) {
    case HostKind::module:
      return "module";
    case HostKind::operation:
      return "operator";
    case HostKind::python_place:
      return "python_place";
    case HostKind::step:
      return "step";
    case HostKind::data_loading:
      return "data_loading";
    case HostKind::launch:
      return "launch";
    case HostKind::other:
      break;
  }
  return "other";
}

Value index_or_null(std::uint32_t index) {
  return index == kNone ? Value(std::monostate{}) : Value(std::int64_t{index});
}

// Index into the report's collectives of a communication, or kNone.
std::uint32_t collective_of(const Analysis& analysis, std::size_t rank_index, std::size_t communication) {
  if (rank_index >= analysis.collective_of.size()) return kNone;
  const auto& matched = analysis.collective_of[rank_index];
  return communication < matched.size() ? matched[communication] : kNone;
}

}  // namespace

TableDefinition make_lanes_table() {
  return {"lanes",
          {{"rank", integer}, {"lane", integer}, {"kind", text}, {"handle", integer}, {"name", text}},
          [](const Job& job, const Analysis&, const RowSink& sink) {
            for (const RankTrace& rank : job.ranks) {
              for (std::size_t i = 0; i < rank.lanes.size(); ++i) {
                const JobLane& lane = rank.lanes[i];
                // A handle above 2^63 (an address) becomes negative: SQLite knows no unsigned integers.
                const std::array<Value, 5> row{std::int64_t{rank.rank}, static_cast<std::int64_t>(i),
                                               std::string_view(trace::to_string(lane.kind)),
                                               static_cast<std::int64_t>(lane.handle),
                                               std::string_view(lane.name)};
                if (!sink(row)) return;
              }
            }
          }};
}

TableDefinition make_activities_table() {
  return {
      "activities",
      {{"rank", integer},
       {"activity", integer},
       {"lane", integer},
       {"name", name},
       {"class", text},
       {"begin_ns", integer},
       {"end_ns", integer},
       {"launch_begin_ns", integer},
       {"launch_end_ns", integer},
       {"step", integer},
       {"communication", integer},
       {"layer", integer},
       {"microbatch", integer},
       {"pass", text}},
      [](const Job& job, const Analysis& analysis, const RowSink& sink) {
        for (const RankTrace& rank : job.ranks) {
          for (std::size_t i = 0; i < rank.activities.size(); ++i) {
            const Activity& a = rank.activities[i];
            const Computation computation = a.compute == kNone ? Computation{} : rank.computations[a.compute];
            const auto index = [](std::int32_t number) {
              return number < 0 ? Value(std::monostate{}) : Value(std::int64_t{number});
            };
            const Value pass = computation.pass == Pass::other
                                   ? Value(std::monostate{})
                                   : Value(std::string_view(trace::to_string(computation.pass)));
            const Value step = a.step == kNone ? Value(std::monostate{}) : Value(rank.steps[a.step].number);
            const std::array<Value, 14> row{std::int64_t{rank.rank},
                                            static_cast<std::int64_t>(i),
                                            std::int64_t{a.lane},
                                            job.strings.view(a.name),
                                            std::string_view(to_string(a.activity_class)),
                                            relative_time(a.begin, analysis),
                                            relative_time(a.end, analysis),
                                            relative_time(a.launch_begin, analysis),
                                            relative_time(a.launch_end, analysis),
                                            step,
                                            index_or_null(a.communication),
                                            index(computation.layer),
                                            index(computation.microbatch),
                                            pass};
            if (!sink(row)) return;
          }
        }
      }};
}

TableDefinition make_communications_table() {
  return {"communications",
          {{"rank", integer},
           {"communication", integer},
           {"activity", integer},
           {"collective", integer},
           {"operation", text},
           {"group_name", name},
           {"sequence", integer},
           {"bytes", integer},
           {"dtype", text},
           {"peer", integer},
           {"has_metadata", integer}},
          [](const Job& job, const Analysis& analysis, const RowSink& sink) {
            for (std::size_t r = 0; r < job.ranks.size(); ++r) {
              const RankTrace& rank = job.ranks[r];
              for (std::size_t i = 0; i < rank.communications.size(); ++i) {
                const Communication& c = rank.communications[i];
                const std::uint32_t collective = collective_of(analysis, r, i);
                const Value null = std::monostate{};
                const std::array<Value, 11> row{
                    std::int64_t{rank.rank},
                    static_cast<std::int64_t>(i),
                    index_or_null(c.activity),
                    collective == kNone ? null : Value(analysis.report.collectives[collective].id),
                    std::string_view(trace::to_string(c.operation)),
                    c.group == kNone ? null : Value(std::string_view(job.groups[c.group].name)),
                    c.sequence == kNoSequence ? null : Value(c.sequence),
                    c.bytes < 0 ? null : Value(c.bytes),
                    std::string_view(trace::to_string(c.data_type)),
                    c.peer == kNoRank ? null : Value(std::int64_t{c.peer}),
                    std::int64_t{c.has_metadata}};
                if (!sink(row)) return;
              }
            }
          }};
}

TableDefinition make_host_ranges_table() {
  return {"host_ranges",
          {{"rank", integer},
           {"lane", integer},
           {"name", name},
           {"kind", text},
           {"depth", integer},
           {"begin_ns", integer},
           {"end_ns", integer}},
          [](const Job& job, const Analysis& analysis, const RowSink& sink) {
            for (const RankTrace& rank : job.ranks) {
              for (const HostRange& h : rank.host_ranges) {
                const std::array<Value, 7> row{
                    std::int64_t{rank.rank},       std::int64_t{h.lane},
                    job.strings.view(h.name),      std::string_view(to_string(h.kind)),
                    std::int64_t{h.depth},         relative_time(h.begin, analysis),
                    relative_time(h.end, analysis)};
                if (!sink(row)) return;
              }
            }
          }};
}

}  // namespace lockstep::analyzer
