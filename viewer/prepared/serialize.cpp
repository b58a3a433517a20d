#include "viewer/prepared/serialize.h"

#include <array>
#include <cereal/archives/binary.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "analyzer/report/measure_fields.h"
#include "trace/format/checksum.h"

// cereal finds these by the namespace of what they serialize. Each names all members of its struct, in order.
namespace lockstep::analyzer {

template <class Archive>
void serialize(Archive& archive, Partition& p) {
  archive(p.ns, p.compute_over_communication_ns);
}
template <class Archive>
void serialize(Archive& archive, Measures& m) {
  archive(m.known, m.waits_known, m.partition);
  for (const MeasureField& field : measure_fields())
    std::visit([&](const auto member) { archive(m.*member); }, field.member);
}
template <class Archive>
void serialize(Archive& archive, OverlapPrice& p) {
  archive(p.activities, p.under_ns, p.alone_ns);
}
template <class Archive>
void serialize(Archive& archive, Clock& c) {
  archive(c.domain, c.offset_ns, c.uncertainty_ns, c.drift, c.evidence, c.related, c.name);
}
template <class Archive>
void serialize(Archive& archive, RankReport::Activities& a) {
  archive(a.compute, a.collective, a.p2p, a.copy);
}
template <class Archive>
void serialize(Archive& archive, RankReport& r) {
  archive(r.rank, r.host, r.device, r.measures, r.dropped_events, r.clock, r.activities, r.begin_ns, r.end_ns,
          r.root_wait_ns, r.damaged, r.overlap_price);
}
template <class Archive>
void serialize(Archive& archive, Warning& w) {
  archive(w.code, w.message, w.rank);
}
template <class Archive>
void serialize(Archive& archive, WaitStateReport& w) {
  archive(w.state, w.operations, w.waits, w.wait_ns, w.exposed_ns, w.worst_rank, w.worst_rank_ns);
}
template <class Archive>
void serialize(Archive& archive, GroupOperation& o) {
  archive(o.operation, o.count, o.bytes, o.bytes_per_step_and_rank, o.wire_bytes_per_step_and_rank, o.wait_ns,
          o.transfer_ns, o.exposed_ns, o.busbw_gbps, o.busbw_wire_gbps);
}
template <class Archive>
void serialize(Archive& archive, GroupReport& g) {
  archive(g.name, g.ranks, g.operations);
}
template <class Archive>
void serialize(Archive& archive, BucketReport& b) {
  archive(b.group_name, b.group_ranks, b.operation, b.name, b.position, b.steps, b.count, b.records, b.bytes,
          b.transfer_ns, b.wait_ns, b.hidden_ns, b.exposed_transfer_ns, b.exposed_wait_ns);
}
template <class Archive>
void serialize(Archive& archive, PipelineStage& s) {
  archive(s.stage, s.rank, s.layers, s.forward_ns, s.backward_ns, s.recompute_ns, s.compute_ns,
          s.exposed_transfer_ns, s.bubble_ns, s.warm_up_ns, s.steady_ns, s.cool_down_ns);
}
template <class Archive>
void serialize(Archive& archive, PipelineReason& r) {
  archive(r.code, r.stage, r.count, r.of);
}
template <class Archive>
void serialize(Archive& archive, PipelineReport& p) {
  archive(p.group, p.stages, p.microbatches, p.chunks, p.schedule, p.bubble_ratio, p.bubble_ratio_ideal,
          p.reason, p.bubble_ns, p.region_ns, p.steps, p.passes_known, p.stages_detail);
}
template <class Archive>
void serialize(Archive& archive, LayerPass& p) {
  archive(p.min_ns, p.median_ns, p.max_ns, p.total_ns, p.slowest_rank, p.microbatch_ns);
}
template <class Archive>
void serialize(Archive& archive, LayerReport& l) {
  archive(l.layer, l.part, l.ranks, l.forward, l.backward, l.recompute, l.slowest_rank);
}
template <class Archive>
void serialize(Archive& archive, CounterStep& s) {
  archive(s.step, s.amount);
}
template <class Archive>
void serialize(Archive& archive, CounterReport& c) {
  archive(c.name, c.rank, c.points, c.min, c.max, c.last, c.per_step);
}
template <class Archive>
void serialize(Archive& archive, PartOfModel& f) {
  archive(f.bytes, f.over);
}
template <class Archive>
void serialize(Archive& archive, SentByAllReduce& f) {
  archive(f.reduced);
}
template <class Archive>
void serialize(Archive& archive, SentWhereShared& f) {
  archive(f.reduced, f.gathered, f.over);
}
template <class Archive>
void serialize(Archive& archive, SamplesOfStep& f) {
  archive(f.samples, f.data_parallel, f.accumulation);
}
template <class Archive>
void serialize(Archive& archive, TheoryReport& t) {
  archive(t.quantity, t.rank, t.measured, t.theory, t.formula);
}
template <class Archive>
void serialize(Archive& archive, BlameReport& b) {
  archive(b.rank, b.blame_ns, b.exposed_ns, b.collectives, b.partial, b.root_cause, b.persistent,
          b.scheduled_ns, b.scheduled_exposed_ns, b.scheduled_collectives);
}
template <class Archive>
void serialize(Archive& archive, RankLateness& l) {
  archive(l.rank, l.mean_ns, l.share, l.movement_ns, l.clock_error_ns, l.chance, l.is_late, l.cause,
          l.cause_ns, l.others_ns, l.accused_by, l.not_accused_because);
}
template <class Archive>
void serialize(Archive& archive, LatenessReport& l) {
  archive(l.can_tell, l.steps, l.steps_needed, l.steps_to_tell, l.step_ns, l.waiting_ns, l.ranks);
}
template <class Archive>
void serialize(Archive& archive, EfficiencyReport& e) {
  archive(e.load_balance, e.communication, e.parallel, e.mean_compute_ns, e.max_compute_ns, e.window_ns);
}
template <class Archive>
void serialize(Archive& archive, FindingPlace& p) {
  archive(p.rank, p.step, p.collective, p.begin_ns, p.end_ns);
}
template <class Archive>
void serialize(Archive& archive, Standing& s) {
  archive(s.ranks, s.waits, s.where, s.known, s.elsewhere);
}
template <class Archive>
void serialize(Archive& archive, ComparedPart& p) {
  archive(p.module, p.operation, p.is_rest, p.own_ns, p.others_ns);
}
template <class Archive>
void serialize(Archive& archive, ComparedParts& p) {
  archive(p.steps, p.others, p.rows);
}
template <class Archive>
void serialize(Archive& archive, Finding& f) {
  archive(f.code, f.severity, f.title, f.evidence, f.remedy, f.lost_ns, f.lost_share, f.cause, f.rank,
          f.place, f.standings, f.is_note, f.accuses, f.alarm, f.reason, f.share, f.has_core_waits, f.own_ns,
          f.topic, f.parts);
}
template <class Archive>
void serialize(Archive& archive, StepsLeftOut& s) {
  archive(s.first, s.last, s.reason, s.ns, s.reason_ns, s.rank);
}
template <class Archive>
void serialize(Archive& archive, SteadyReport& s) {
  archive(s.steps, s.left_out, s.ranks);
}
template <class Archive>
void serialize(Archive& archive, Account& a) {
  archive(a.ns);
}
template <class Archive>
void serialize(Archive& archive, RankAccount& r) {
  archive(r.rank, r.spent, r.checkpoint_beside_ns);
}
template <class Archive>
void serialize(Archive& archive, LateStart& l) {
  archive(l.rank, l.waited_ns);
}
template <class Archive>
void serialize(Archive& archive, AccountReport& a) {
  archive(a.begin_ns, a.wall_ns, a.ranks, a.spent, a.goodput, a.late_start);
}
template <class Archive>
void serialize(Archive& archive, Report& r) {
  archive(r.path, r.origin_ns, r.origin_aligned_ns, r.sources, r.dumps, r.waits_blurred_ns, r.world_size,
          r.ranks_present, r.ranks_missing, r.steps_present, r.steady, r.account, r.unmatched, r.warnings,
          r.ranks, r.wait_states, r.groups, r.buckets, r.pipeline, r.layers, r.counters, r.theory, r.blame,
          r.lateness, r.efficiency, r.findings);
}
template <class Archive>
void serialize(Archive& archive, JobLane& l) {
  archive(l.kind, l.handle, l.name);
}
template <class Archive>
void save(Archive& archive, const SharedRanks& ranks) {
  archive(ranks.list());
}
template <class Archive>
void load(Archive& archive, SharedRanks& ranks) {
  SharedRanks::List list;
  archive(list);
  ranks = std::move(list);
}
template <class Archive>
void serialize(Archive& archive, JobGroup& g) {
  archive(g.name, g.description, g.ranks, g.size, g.own_rank, g.may_have_others);
}
template <class Archive>
void serialize(Archive& archive, TimeSpan& s) {
  archive(s.begin, s.end);
}

}  // namespace lockstep::analyzer

namespace lockstep::viewer {

template <class Archive, class T>
void serialize(Archive& archive, Extent<T>& e) {
  archive(e.offset, e.count);
}
template <class Archive>
void serialize(Archive& archive, TimeRange& r) {
  archive(r.begin, r.end);
}
template <class Archive>
void serialize(Archive& archive, RowContents& r) {
  archive(r.begin, r.end, r.busy, r.wait, r.item);
}
template <class Archive>
void serialize(Archive& archive, LaneContents& l) {
  archive(l.role, l.job_lane, l.label, l.rows);
}
template <class Archive>
void serialize(Archive& archive, ValueRange& r) {
  archive(r.low, r.high);
}
template <class Archive>
void serialize(Archive& archive, CounterContents& c) {
  archive(c.name, c.points, c.blocks, c.range);
}
template <class Archive>
void serialize(Archive& archive, RankContents& r) {
  archive(r.rank, r.host, r.device, r.file, r.clock, r.resolution_ns, r.dropped_events, r.lanes, r.lost,
          r.unrecorded, r.tracks, r.counters, r.steps, r.step_marks, r.activities, r.communications,
          r.computations, r.host_ranges, r.segments, r.cause_begins, r.cause_sums, r.collective_of, r.waits,
          r.pipeline_regions, r.stood.begin, r.stood.end, r.stood_in);
}
template <class Archive>
void serialize(Archive& archive, Contents& c) {
  archive(c.report, c.verdict, c.groups, c.import_warnings, c.ranks, c.content, c.focus, c.string_ends,
          c.string_bytes, c.steps, c.collectives, c.collective_ranks, c.costliest);
}

namespace {

// Raise it where the meaning of something written changes and its size does not.
constexpr std::uint64_t kVersion = 21;

// Which measures there are, in what order and of what type: others may be of the same size.
std::uint64_t list_of_measures() {
  std::string list;
  for (const analyzer::MeasureField& field : analyzer::measure_fields())
    list += std::string(field.key) + ':' + std::to_string(field.member.index()) + ' ';
  return trace::format::checksum(std::as_bytes(std::span(list)));
}

template <class... Structs>
std::uint64_t layout_of() {
  const std::array<std::uint64_t, sizeof...(Structs) + 2> sizes{kVersion, list_of_measures(),
                                                                sizeof(Structs)...};
  return trace::format::checksum(std::as_bytes(std::span(sizes)));
}

}  // namespace

std::string serialize(const Contents& contents) {
  std::ostringstream stream;
  cereal::BinaryOutputArchive archive(stream);
  archive(contents);
  return std::move(stream).str();
}

Result<Contents> deserialize(std::string_view bytes) {
  // Its checksum was right, so that no length in it is absurd.
  std::istringstream stream{std::string(bytes)};
  Contents contents;
  try {
    cereal::BinaryInputArchive archive(stream);
    archive(contents);
  } catch (const std::exception& error) {
    return Error{std::string("the prepared timeline cannot be read: ") + error.what()};
  }
  return contents;
}

std::uint64_t layout_of_contents() {
  using namespace analyzer;  // NOLINT(google-build-using-namespace): the list below is of its structs
  return layout_of<Contents, RankContents, LaneContents, RowContents, CounterContents, ValueRange,
                   CollectiveHead, StepSpan, CauseTimes, Activity, Communication, Computation, HostRange,
                   StepMark, CauseSegment, CommunicationWait, Interval, CounterPoint, StepReport,
                   CollectiveRank, Report, RankReport, Measures, Partition, Clock, Finding, FindingPlace,
                   Standing, BlameReport, LatenessReport, RankLateness, PipelineReport, PipelineReason,
                   PipelineStage, BucketReport, GroupReport, GroupOperation, LayerReport, LayerPass,
                   CounterReport, TheoryReport, TheoryFormula, WaitStateReport, EfficiencyReport,
                   OverlapPrice, JobLane, JobGroup, Warning>();
}

}  // namespace lockstep::viewer
