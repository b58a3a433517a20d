#include "viewer/prepared/prepare.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "analyzer/report/text.h"
#include "base/time_math.h"
#include "viewer/prepared/serialize.h"
#include "viewer/prepared/tracks.h"

namespace lockstep::viewer {

namespace {

void extend(TimeRange& range, bool& any, Nanoseconds begin, Nanoseconds end) {
  range.begin = any ? std::min(range.begin, begin) : begin;
  range.end = any ? std::max(range.end, end) : end;
  any = true;
}

analyzer::Report without_arrays(const analyzer::Report& report) {
  analyzer::Report small;
  small.path = report.path;
  small.origin_ns = report.origin_ns;
  small.origin_aligned_ns = report.origin_aligned_ns;
  small.sources = report.sources;
  small.dumps = report.dumps;
  small.waits_blurred_ns = report.waits_blurred_ns;
  small.world_size = report.world_size;
  small.ranks_present = report.ranks_present;
  small.ranks_missing = report.ranks_missing;
  small.steps_present = report.steps_present;
  small.steady = report.steady;
  small.account = report.account;
  small.unmatched = report.unmatched;
  small.warnings = report.warnings;
  small.ranks = report.ranks;
  small.wait_states = report.wait_states;
  small.groups = report.groups;
  small.buckets = report.buckets;
  small.pipeline = report.pipeline;
  small.layers = report.layers;
  small.counters = report.counters;
  small.theory = report.theory;
  small.blame = report.blame;
  small.lateness = report.lateness;
  small.efficiency = report.efficiency;
  small.findings = report.findings;
  return small;
}

// Whether the report's figures are over the step of this operation; over all steps where it has no steady
// ones.
bool is_counted(const analyzer::Report& report, std::optional<std::int64_t> step) {
  return !report.steady || (step && std::ranges::binary_search(report.steady->steps, *step));
}

// The report over the steady steps, as far as its sentences need it: of the operations, how long they moved
// data, with records of all ranks and without.
analyzer::Report for_words(const analyzer::Report& report) {
  analyzer::Report small = without_arrays(report);
  small.collectives.resize(2);
  for (analyzer::CollectiveReport& sum : small.collectives) sum.ranks.resize(1);
  small.collectives[1].partial = true;
  for (const analyzer::CollectiveReport& collective : report.collectives) {
    if (!is_counted(report, collective.step)) continue;
    for (const analyzer::CollectiveRank& rank : collective.ranks) {
      if (!rank.hidden_known) continue;
      std::int64_t& sum = small.collectives[collective.partial ? 1 : 0].ranks[0].transfer_ns;
      sum = saturating_add(sum, rank.transfer_ns);
    }
  }
  if (report.steady) small.ranks = report.steady->ranks;
  return small;
}

// A sentence a line: where the wall time went, then the verdict.
std::string verdict_of(const analyzer::Report& whole) {
  const analyzer::Report report = for_words(whole);
  std::vector<std::string> sentences = analyzer::verdict_lines(report);
  // As the text report: how the job ended, and all else, comes after where its time went.
  std::vector<std::string> first = analyzer::account_lines(whole);
  if (std::string steady = analyzer::steady_line(whole); !steady.empty()) first.push_back(std::move(steady));
  sentences.insert(sentences.begin(), first.begin(), first.end());
  std::string lines;
  for (const std::string& line : sentences) lines += (lines.empty() ? "" : "\n") + line;
  return lines;
}

std::vector<StepSpan> spans_of(const analyzer::RankTrace& trace,
                               std::span<const analyzer::StepReport> reported, Nanoseconds origin) {
  std::vector<StepSpan> steps;
  for (const analyzer::StepReport& step : reported)
    if (step.rank == trace.rank)
      steps.push_back(
          {step.step, saturating_add(origin, step.begin_ns), saturating_add(origin, step.end_ns)});
  if (steps.empty())
    for (const analyzer::StepMark& step : trace.steps) steps.push_back({step.number, step.begin, step.end});
  std::sort(steps.begin(), steps.end(),
            [](const StepSpan& a, const StepSpan& b) { return a.begin < b.begin; });
  return steps;
}

double share(std::size_t ranks, const analyzer::Job& job) {
  return static_cast<double>(ranks) / static_cast<double>(job.ranks.size());
}

Error stopped() {
  return Error{"stopped before all was prepared"};
}

}  // namespace

LaneContents Preparation::write_track(const Track& track) {
  LaneContents lane{track.role, track.job_lane, track.label, {}};
  for (const RowColumns& row : track.rows) {
    lane.rows.push_back({writer_.add(row.begin), writer_.add(row.end), writer_.add(row.busy),
                         writer_.add(row.wait), writer_.add(row.item)});
    if (row.size() == 0) continue;
    extend(contents_.content, any_time_, row.begin.front(), row.end.back());
    if (track.role != LaneRole::host) extend(contents_.focus, any_focus_, row.begin.front(), row.end.back());
  }
  return lane;
}

CounterContents Preparation::write_counter(const analyzer::CounterTrack& counter) {
  const std::vector<ValueRange> blocks = counter_blocks(counter.points);
  return {counter.name, writer_.add(counter.points), writer_.add(blocks),
          range_of(counter.points, blocks, 0, counter.points.size())};
}

void Preparation::add_recorded(const analyzer::RankTrace& trace) {
  RankContents& rank = contents_.ranks.emplace_back();
  rank.rank = trace.rank;
  rank.host = trace.host;
  rank.device = trace.device;
  rank.file = trace.file;
  rank.clock = trace.clock;
  rank.resolution_ns = trace.resolution_ns;
  rank.dropped_events = trace.dropped_events;
  rank.lanes = trace.lanes;
  rank.lost = trace.lost;
  rank.unrecorded = trace.unrecorded;
  for (const analyzer::CounterTrack& counter : trace.counters)
    rank.counters.push_back(write_counter(counter));
  for (const Track& track : host_tracks(trace)) rank.tracks.push_back(write_track(track));
  rank.step_marks = writer_.add(trace.steps);
  rank.activities = writer_.add(trace.activities);
  rank.communications = writer_.add(trace.communications);
  rank.computations = writer_.add(trace.computations);
  rank.host_ranges = writer_.add(trace.host_ranges);
}

void Preparation::add_analysis(std::size_t index, const analyzer::RankTrace& trace,
                               const RankAnalysis& analysis, std::span<const analyzer::StepReport> reported,
                               Nanoseconds origin) {
  RankContents& rank = contents_.ranks[index];
  // From the top: causes, devices, host threads.
  std::vector<LaneContents> tracks;
  for (const Track& track : analyzed_tracks(trace, analysis)) tracks.push_back(write_track(track));
  std::move(rank.tracks.begin(), rank.tracks.end(), std::back_inserter(tracks));
  rank.tracks = std::move(tracks);
  const std::vector<StepSpan> steps = spans_of(trace, reported, origin);
  for (const StepSpan& step : steps) extend(contents_.content, any_time_, step.begin, step.end);
  rank.steps = writer_.add(steps);
  rank.segments = writer_.add(analysis.segments);
  const CauseBlocks blocks = cause_blocks_of(analysis.segments);
  rank.cause_begins = writer_.add(blocks.begin);
  rank.cause_sums = writer_.add(blocks.before);
  rank.collective_of = writer_.add(analysis.collective_of);
  rank.waits = writer_.add(analysis.waits);
  rank.pipeline_regions = writer_.add(analysis.pipeline_regions);
}

void Preparation::add_rank(const analyzer::RankTrace& trace, const RankAnalysis& analysis,
                           std::span<const analyzer::StepReport> steps, Nanoseconds origin) {
  add_recorded(trace);
  add_analysis(contents_.ranks.size() - 1, trace, analysis, steps, origin);
}

void Preparation::add_strings(const analyzer::StringTable& strings) {
  for (std::uint32_t id = 0; id < strings.size(); ++id) {
    string_bytes_ += strings.view(id);
    string_ends_.push_back(string_bytes_.size());
  }
}

std::uint32_t Preparation::string_id(const std::string& text) {
  if (string_ends_.empty()) string_ends_.push_back(0);
  if (text.empty()) return 0;
  const auto [where, fresh] = own_strings_.try_emplace(text, static_cast<std::uint32_t>(string_ends_.size()));
  if (fresh) {
    string_bytes_ += text;
    string_ends_.push_back(string_bytes_.size());
  }
  return where->second;
}

void Preparation::add_hang(const analyzer::Job& job, const analyzer::Report& report) {
  const bool hung =
      std::any_of(report.findings.begin(), report.findings.end(),
                  [](const analyzer::Finding& finding) { return finding.alarm == analyzer::Alarm::hang; });
  if (!hung || !any_focus_) return;
  Nanoseconds until = analyzer::kUnknownTime;
  for (const analyzer::RankTrace& rank : job.ranks) {
    const analyzer::Ending& ending = rank.ending;
    until = std::max(until, ending.interrupted != analyzer::kUnknownTime
                                ? ending.interrupted
                                : std::max(ending.recorded_until, ending.hang_noted));
  }
  Nanoseconds last_since = contents_.focus.end;
  for (std::size_t i = 0; i < job.ranks.size() && i < contents_.ranks.size(); ++i) {
    const analyzer::RankTrace& rank = job.ranks[i];
    if (rank.activities.empty()) continue;
    RankContents& stood = contents_.ranks[i];
    Nanoseconds since = rank.activities.front().end;
    for (const analyzer::Activity& activity : rank.activities) since = std::max(since, activity.end);
    if (!rank.ending.operations.empty()) {
      since = rank.ending.operations.front().begin;
      stood.stood_in = rank.ending.operations.front().name;
    }
    if (since >= until) continue;
    stood.stood = {since, until};
    last_since = std::max(last_since, since);
    extend(contents_.content, any_time_, since, until);
  }
  // A hang may be a thousand times as long as what came before it: its begin is enough to see that there is
  // one.
  constexpr Nanoseconds kOfFocus = 5;
  const auto shown = static_cast<Nanoseconds>(
      std::min<std::uint64_t>(distance(contents_.focus.begin, contents_.focus.end) / kOfFocus,
                              std::numeric_limits<Nanoseconds>::max()));
  contents_.focus.end = std::max(contents_.focus.end, std::min(until, saturating_add(last_since, shown)));
}

void Preparation::add_collective(const analyzer::CollectiveReport& collective, Nanoseconds origin) {
  CollectiveHead head;
  head.id = collective.id;
  head.has_step = collective.step.has_value();
  head.step = collective.step.value_or(0);
  head.has_sequence = collective.sequence.has_value();
  head.sequence = collective.sequence.value_or(0);
  head.has_bytes = collective.bytes.has_value();
  head.bytes = collective.bytes.value_or(0);
  head.has_last_arriver = collective.last_arriver.has_value();
  head.last_arriver = collective.last_arriver.value_or(0);
  head.last_arriver_margin_ns = collective.last_arriver_margin_ns.value_or(0);
  head.has_algbw = collective.algbw_gbps.has_value();
  head.algbw_gbps = collective.algbw_gbps.value_or(0);
  head.has_busbw = collective.busbw_gbps.has_value();
  head.busbw_gbps = collective.busbw_gbps.value_or(0);
  head.has_busbw_wire = collective.busbw_wire_gbps.has_value();
  head.busbw_wire_gbps = collective.busbw_wire_gbps.value_or(0);
  head.wait_ns = collective.wait_ns;
  head.name = string_id(collective.name);
  head.group_name = string_id(collective.group_name);
  head.evidence = string_id(collective.evidence);
  head.operation = collective.operation;
  head.data_type = collective.data_type;
  head.partial = collective.partial;
  head.unfinished = collective.unfinished;
  head.root_unknown = collective.root_unknown;
  head.first_part = collective_ranks_.size();
  head.parts = static_cast<std::uint32_t>(collective.ranks.size());
  TimeRange range;
  bool any = false;
  for (const analyzer::CollectiveRank& part : collective.ranks) {
    extend(range, any, saturating_add(origin, part.arrival_ns), saturating_add(origin, part.end_ns));
    collective_ranks_.push_back(part);
  }
  head.begin = range.begin;
  head.end = range.end;
  collectives_.push_back(head);
}

Result<std::shared_ptr<const Tables>> Preparation::finish(
    const analyzer::Report& report, std::span<const analyzer::StepReport> steps,
    const std::vector<analyzer::JobGroup>& groups, const std::vector<analyzer::Warning>& import_warnings,
    std::uint64_t fingerprint) {
  contents_.report = without_arrays(report);
  contents_.verdict = verdict_of(report);
  contents_.groups = groups;
  contents_.import_warnings = import_warnings;
  if (!any_time_) contents_.content = {report.origin_aligned_ns, report.origin_aligned_ns};
  if (!any_focus_) contents_.focus = contents_.content;
  contents_.steps = writer_.add(steps);
  std::vector<std::uint32_t> costliest;
  for (std::uint32_t i = 0; i < collectives_.size(); ++i) {
    const CollectiveHead& head = collectives_[i];
    if (!head.waits_known() || head.wait_ns <= 0) continue;
    if (is_counted(report, head.has_step ? std::optional(head.step) : std::nullopt)) costliest.push_back(i);
  }
  std::sort(costliest.begin(), costliest.end(), [this](std::uint32_t a, std::uint32_t b) {
    return collectives_[a].wait_ns != collectives_[b].wait_ns
               ? collectives_[a].wait_ns > collectives_[b].wait_ns
               : a < b;
  });
  contents_.costliest = writer_.add(costliest);
  contents_.collectives = writer_.add(collectives_);
  contents_.collective_ranks = writer_.add(collective_ranks_);
  contents_.string_ends = writer_.add(string_ends_);
  contents_.string_bytes = writer_.add(std::span<const char>(string_bytes_));
  return writer_.finish(serialize(contents_), {layout_of_contents(), fingerprint});
}

void prepare_recorded(const analyzer::Job& job, Preparation& preparation, const GoOn& go_on) {
  preparation.add_strings(job.strings);
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    if (go_on && !go_on(share(rank, job))) return;
    preparation.add_recorded(job.ranks[rank]);
  }
}

Result<std::shared_ptr<const Tables>> prepare_analyzed(const analyzer::Job& job,
                                                       const analyzer::Analysis& analysis,
                                                       Preparation& preparation, std::uint64_t fingerprint,
                                                       const GoOn& go_on) {
  const analyzer::Report& report = analysis.report;
  const Nanoseconds origin = report.origin_aligned_ns;
  // Of each rank, those of its steps.
  std::map<std::int32_t, std::vector<analyzer::StepReport>> steps;
  for (const analyzer::StepReport& step : report.steps) steps[step.rank].push_back(step);
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    if (go_on && !go_on(share(rank, job))) return stopped();
    RankAnalysis of_rank;
    of_rank.groups = job.groups;
    if (rank < analysis.segments.size()) of_rank.segments = analysis.segments[rank];
    if (rank < analysis.collective_of.size()) of_rank.collective_of = analysis.collective_of[rank];
    if (rank < analysis.waits.size()) of_rank.waits = analysis.waits[rank];
    if (rank < analysis.pipeline_regions.size())
      of_rank.pipeline_regions = analysis.pipeline_regions[rank].intervals();
    preparation.add_analysis(rank, job.ranks[rank], of_rank, steps[job.ranks[rank].rank], origin);
  }
  for (const analyzer::CollectiveReport& collective : report.collectives)
    preparation.add_collective(collective, origin);
  preparation.add_hang(job, report);
  return preparation.finish(report, report.steps, job.groups, job.warnings, fingerprint);
}

Result<std::shared_ptr<const Tables>> prepare(const analyzer::Job& job, const analyzer::Analysis& analysis,
                                              TablesWriter writer, std::uint64_t fingerprint,
                                              const GoOn& go_on) {
  Preparation preparation(std::move(writer));
  bool stop = false;
  prepare_recorded(job, preparation, [&](double done) {
    stop = go_on && !go_on(done / 2);
    return !stop;
  });
  if (stop) return stopped();
  return prepare_analyzed(job, analysis, preparation, fingerprint,
                          [&](double done) { return !go_on || go_on(0.5 + done / 2); });
}

}  // namespace lockstep::viewer
