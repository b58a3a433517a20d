#include "analyzer/analysis.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analyzer/account/account.h"
#include "analyzer/account/late_start.h"
#include "analyzer/account/waits_for_phases.h"
#include "analyzer/activity_counts.h"
#include "analyzer/diagnose/blame.h"
#include "analyzer/diagnose/findings.h"
#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/profile.h"
#include "analyzer/diagnose/warnings.h"
#include "analyzer/interruptions.h"
#include "analyzer/match/match.h"
#include "analyzer/metrics/bucket_overlap.h"
#include "analyzer/metrics/collectives.h"
#include "analyzer/metrics/counter_summary.h"
#include "analyzer/metrics/efficiency.h"
#include "analyzer/metrics/group_summary.h"
#include "analyzer/metrics/layer_summary.h"
#include "analyzer/metrics/overlap_price.h"
#include "analyzer/metrics/pipeline_bubble.h"
#include "analyzer/metrics/pipeline_regions.h"
#include "analyzer/metrics/step_alignment.h"
#include "analyzer/metrics/theory.h"
#include "analyzer/metrics/wait_states.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/model/check_job.h"
#include "analyzer/model/stopped.h"
#include "analyzer/report/measure_fields.h"
#include "analyzer/steady_steps.h"
#include "analyzer/steady_view.h"
#include "analyzer/step_selection.h"
#include "base/sort_by_key.h"

namespace lockstep::analyzer {
namespace {

void set_ratios(const RankTimeline::KernelOverlap& kernels, Measures& measures) {
  if (measures.communication_ns > 0) {
    measures.overlap_ratio =
        static_cast<double>(measures.overlap_ns) / static_cast<double>(measures.communication_ns);
  }
  if (kernels.total_ns > 0) measures.overlap_ratio_per_kernel = kernels.covered_ns / kernels.total_ns;
}

class Analyzer {
 public:
  Analyzer(const Job& job, const AnalysisOptions& options)
      : job_(job), options_(options), selection_{options.first_step, options.last_step} {}

  Result<Analysis> run() {
    reach(0);
    if (const Status status = check_job(job_, options_.stop); !status.ok()) return status.error();
    reach(0.02);
    describe_run();
    if (const Status status = check_selection(selection_, report().steps_present); !status.ok())
      return status.error();
    reach(0.05);
    const Matching matching = match_communications(job_, Times::rule_out, options_.stop);
    reach(0.12);
    choose_steps(matching);
    std::vector<MatchWaits> waits;
    waits.reserve(matching.matches.size());
    for (const Match& match : matching.matches) {
      throw_if_stopped(options_.stop);
      waits.push_back(compute_waits(job_, matching, match));
    }
    analysis_.waits = collect_waits(job_, matching, waits);
    if (first_steady_)
      interruptions_ = measure_interruptions(job_, windows_, phases_, analysis_.waits, lengths_,
                                             *first_steady_, selection_);
    report().account =
        account_for(job_, windows_, with_waits_for(job_, windows_, phases_, matching, waits, analysis_.waits),
                    first_after_warm_up_.value_or(std::numeric_limits<std::int64_t>::min()),
                    first_after_warm_up_.has_value(), report().origin_aligned_ns);
    report().account.late_start =
        find_late_start(job_, windows_, matching, waits, analysis_.waits, report().account.wall_ns);
    reach(0.16);
    const std::vector<PipelineRegion> pipelines = find_pipeline_regions(job_, matching, options_.stop);
    analysis_.pipeline_regions = regions_of_ranks(job_, matching, pipelines);
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      reach(0.18 + 0.47 * static_cast<double>(rank) / static_cast<double>(job_.ranks.size()));
      measure_rank(rank);
    }
    if (tells_communication_alone(report())) forget_overlap(report());
    reach(0.65);
    Delays delays = find_delays(job_, matching, waits, analysis_.waits, profiles_, begins_, options_.stop);
    std::vector<std::vector<CommunicationProfile>>().swap(profiles_);
    reach(0.7);
    stable_sort_by_key(report().steps, [](const StepReport& step) { return step.step; });
    const auto selected = [this](std::optional<std::int64_t> step) {
      return !selection_.any() || (step && selection_.holds(*step));
    };
    CollectiveList list = list_collectives(job_, matching, waits, analysis_.waits, covered_, windows_,
                                           report().origin_aligned_ns, selected, options_.stop);
    report().collectives = std::move(list.collectives);
    analysis_.collective_of = std::move(list.collective_of);
    reach(0.8);
    if (std::optional<Warning> left_out = communication_left_out(report()))
      report().warnings.push_back(std::move(*left_out));
    NotSteady rest = keep_steady(report());
    const bool narrowed = !rest.collectives.empty();
    std::vector<std::vector<std::uint32_t>> all_collectives =
        narrowed ? std::exchange(analysis_.collective_of, indices_left(analysis_.collective_of, report()))
                 : decltype(analysis_.collective_of){};
    const auto counted = [this, &selected](std::optional<std::int64_t> step) {
      if (!report().steady) return selected(step);
      const std::vector<std::int64_t>& steps = report().steady->steps;
      return step && std::binary_search(steps.begin(), steps.end(), *step);
    };
    std::int64_t resolution_ns = 1;
    for (const RankTrace& rank : job_.ranks) resolution_ns = std::max(resolution_ns, rank.resolution_ns);
    report().waits_blurred_ns = blur_of_waits(report().collectives, resolution_ns);
    const auto everyone = [](std::int32_t) { return true; };
    report().wait_states = summarise_wait_states(report(), everyone, options_.stop);
    report().groups = summarise_groups(report(), options_.stop);
    report().buckets = summarise_buckets(report(), everyone, options_.stop);
    reach(0.87);
    report().pipeline = measure_pipelines(job_, matching, analysis_.waits, pipelines, counted, options_.stop);
    report().layers = summarise_layers(job_, counted, options_.stop);
    report().counters = summarise_counters(job_, counted, options_.stop);
    report().theory = compare_with_theory(job_, report());
    reach(0.89);
    find_unknown_waits(matching);
    report().unmatched = matching.unmatched;
    report().efficiency = parallel_efficiency(report().ranks);
    std::vector<HostSpans> host_spans;
    for (const RankTrace& rank : job_.ranks) {
      throw_if_stopped(options_.stop);
      host_spans.push_back(innermost_host_ranges(rank));
    }
    const Diagnosis diagnosis{job_,
                              matching,
                              waits,
                              analysis_.collective_of,
                              std::move(delays),
                              std::move(gaps_),
                              std::move(host_spans),
                              std::move(longest_),
                              analysis_.pipeline_regions,
                              std::move(interruptions_)};
    reach(0.91);
    report().lateness = judge_lateness(table_of_steps(job_, report(), analysis_.pipeline_regions), report());
    report().blame = assign_blame(diagnosis, report(), options_.stop);
    reach(0.95);
    add_warnings(diagnosis, windows_, report(), options_.stop);
    reach(0.97);
    add_findings(diagnosis, report(), options_.stop);
    restore(std::move(rest), report());
    if (narrowed) analysis_.collective_of = std::move(all_collectives);
    reach(1);
    return std::move(analysis_);
  }

 private:
  Report& report() { return analysis_.report; }

  // Between parts: shares are what these take of ten million activities, roughly.
  void reach(double done) const {
    if (options_.progress) options_.progress(done);
    throw_if_stopped(options_.stop);
  }

  void describe_run() {
    Report& result = report();
    result.path = job_.path;
    result.sources = job_.sources;
    result.dumps = job_.dumps;
    result.world_size = job_.world_size;
    result.ranks_missing = job_.ranks_missing;
    result.warnings = job_.warnings;
    std::set<std::int64_t> steps;
    std::optional<Nanoseconds> origin;
    for (const RankTrace& rank : job_.ranks) {
      throw_if_stopped(options_.stop);
      result.ranks_present.push_back(rank.rank);
      windows_.push_back(find_windows(rank));
      for (const StepMark& step : rank.steps) steps.insert(step.number);
      if (windows_.back().has_work)
        origin = std::min(origin.value_or(windows_.back().whole.begin), windows_.back().whole.begin);
    }
    result.steps_present.assign(steps.begin(), steps.end());
    result.origin_aligned_ns = origin.value_or(0);
    if (job_.realtime_of_zero && origin) result.origin_ns = *job_.realtime_of_zero + *origin;
  }

  // Which steps are steady.
  void choose_steps(const Matching& matching) {
    for (const RankTrace& rank : job_.ranks) {
      throw_if_stopped(options_.stop);
      phases_.push_back(find_phases(rank, job_.strings));
    }
    // Of one number, such steps are of different times: there is no warm-up of all ranks.
    if (std::optional<Warning> apart = find_steps_apart(job_, matching)) {
      report().warnings.push_back(std::move(*apart));
      return;
    }
    lengths_ = step_lengths(job_, windows_, phases_);
    const std::optional<SteadyChoice> choice = choose_steady_steps(lengths_);
    if (choice) {
      first_after_warm_up_ = first_after_warm_up(*choice);
      first_steady_ = choice->steps.front();
      std::ranges::set_difference(report().steps_present, choice->steps,
                                  std::back_inserter(report().not_steady));
    }
    if (!options_.steady || selection_.any() || report().steps_present.empty()) return;
    if (choice) {
      report().steady = SteadyReport{choice->steps, choice->left_out, {}};
      measure_left_out(job_, windows_, phases_, report().steady->left_out);
    }
    if (std::optional<Warning> doubt = doubt_of_steady_steps(lengths_, choice))
      report().warnings.push_back(std::move(*doubt));
  }

  void measure_rank(std::size_t index) {
    const RankTrace& trace = job_.ranks[index];
    const RankTimeline timeline(trace, analysis_.waits[index], analysis_.pipeline_regions[index]);
    covered_.push_back(timeline.covered_communication());
    begins_.push_back(recording_begin(trace, windows_[index]));
    profiles_.push_back(profile_rank(timeline, begins_.back()));
    const Nanoseconds origin = report().origin_aligned_ns;
    const RankWindows& windows = windows_[index];

    RankReport rank{trace.rank,
                    trace.host,
                    trace.device,
                    {},
                    trace.dropped_events,
                    trace.clock,
                    count_activities(trace),
                    windows.has_work ? windows.whole.begin - origin : 0,
                    windows.has_work ? windows.whole.end - origin : 0};
    rank.damaged = !trace.lost.empty();
    gaps_.emplace_back();
    longest_.emplace_back();
    analysis_.segments.emplace_back();
    const std::vector<Interval> parts = recorded_parts(trace, windows.whole);
    Measures whole;
    for (const Interval& part : parts) {
      throw_if_stopped(options_.stop);
      const RankTimeline::Gaps gaps = timeline.gaps(part);
      gaps_.back().count += gaps.count;
      gaps_.back().without_launch += gaps.without_launch;
      gaps_.back().ns += gaps.ns;
      gaps_.back().without_launch_ns += gaps.without_launch_ns;
      add_times(timeline.measures(part, options_.keep_segments ? &analysis_.segments.back() : nullptr,
                                  windows.steps.empty() ? &longest_.back() : nullptr),
                whole);
    }

    if (!trace.lost.empty() && options_.keep_segments) {
      std::erase_if(analysis_.segments.back(), [&](const CauseSegment& segment) {
        return trace.was_lost_within(segment.begin, segment.end);
      });
    }
    std::vector<Interval> step_windows;
    for (const StepWindow& step : windows.steps) step_windows.push_back(step.window);
    Measures steady;
    RankTimeline::KernelOverlap steady_kernels;
    std::vector<Interval> steady_windows;
    const std::vector<RankTimeline::KernelOverlap> kernels =
        timeline.per_kernel_overlap(step_windows, covered_.back());
    Measures selected;
    RankTimeline::KernelOverlap selected_kernels;
    for (std::size_t i = 0; i < windows.steps.size(); ++i) {
      throw_if_stopped(options_.stop);
      const StepWindow& step = windows.steps[i];
      if (!selection_.holds(step.number)) continue;
      StepReport report_step{step.number, trace.rank, step.window.begin - origin, step.window.end - origin,
                             timeline.measures(step.window)};
      set_ratios(kernels[i], report_step.measures);
      report_step.measures.known =
          windows.has_work && !trace.was_lost_within(step.window.begin, step.window.end);
      add_times(report_step.measures, selected);
      selected_kernels.covered_ns += kernels[i].covered_ns;
      selected_kernels.total_ns += kernels[i].total_ns;
      report().steps.push_back(report_step);
      if (!report().steady ||
          !std::binary_search(report().steady->steps.begin(), report().steady->steps.end(), step.number))
        continue;
      add_times(report_step.measures, steady);
      steady_kernels.covered_ns += kernels[i].covered_ns;
      steady_kernels.total_ns += kernels[i].total_ns;
      steady_windows.push_back(step.window);
    }
    if (selection_.any()) {
      std::vector<Interval> selected_windows;
      for (const StepWindow& step : windows.steps)
        if (selection_.holds(step.number)) selected_windows.push_back(step.window);
      rank.overlap_price = price_overlap(trace, selected_windows);
      rank.measures = selected;
      set_ratios(selected_kernels, rank.measures);
    } else {
      rank.overlap_price = price_overlap(trace, parts);
      rank.measures = whole;
      RankTimeline::KernelOverlap of_all;
      for (const RankTimeline::KernelOverlap& of_part : timeline.per_kernel_overlap(parts, covered_.back())) {
        of_all.covered_ns += of_part.covered_ns;
        of_all.total_ns += of_part.total_ns;
      }
      set_ratios(of_all, rank.measures);
      // What was lost may have lain before or behind the rest.
      rank.measures.known = trace.lost.empty() && windows.has_work;
    }
    report().ranks.push_back(rank);
    if (!report().steady) return;
    rank.overlap_price = price_overlap(trace, steady_windows);
    set_ratios(steady_kernels, steady);
    steady.known = steady.known && windows.has_work;
    rank.measures = steady;
    report().steady->ranks.push_back(std::move(rank));
  }

  void find_unknown_waits(const Matching& matching) {
    std::vector<bool> met(job_.ranks.size(), false);
    for (const Match& match : matching.matches) {
      if (match.record_count == 1 && match.partial && !match.unfinished) continue;
      for (const MatchRecord record : matching.records_of(match)) met[record.rank] = true;
    }
    std::map<std::int32_t, bool> known;
    for (std::size_t i = 0; i < job_.ranks.size(); ++i)
      known[job_.ranks[i].rank] = met[i] || job_.ranks[i].communications.empty();
    const auto tell = [&known](std::vector<RankReport>& ranks) {
      for (RankReport& rank : ranks) rank.measures.waits_known = known[rank.rank];
    };
    tell(report().ranks);
    if (report().steady) tell(report().steady->ranks);
    for (StepReport& step : report().steps) step.measures.waits_known = known[step.rank];
  }

  const Job& job_;
  const AnalysisOptions& options_;
  StepSelection selection_;
  std::vector<RankWindows> windows_;
  std::vector<Phases> phases_;  // of each rank
  Interruptions interruptions_;
  std::vector<StepLength> lengths_;
  // Absent where nobody can tell which steps are steady.
  std::optional<std::int64_t> first_after_warm_up_, first_steady_;
  CommunicationCovers covered_;
  std::vector<std::vector<CommunicationProfile>> profiles_;
  std::vector<Nanoseconds> begins_;  // by rank index: when it begins to be recorded
  std::vector<RankTimeline::Gaps> gaps_;
  std::vector<LongestStretches> longest_;
  Analysis analysis_;
};

}  // namespace

Result<Analysis> analyze(const Job& job, const AnalysisOptions& options) {
  try {
    return Analyzer(job, options).run();
  } catch (const Stopped&) {
    return Error{"stopped before all was analyzed"};
  }
}

RankTimeline timeline_of(const Job& job, const Analysis& analysis, std::size_t rank_index) {
  return {job.ranks[rank_index], analysis.waits[rank_index], analysis.pipeline_regions[rank_index]};
}

Measures measures_of(const RankTimeline& timeline, Nanoseconds begin, Nanoseconds end) {
  Measures measures;
  RankTimeline::KernelOverlap kernels;
  const Interval whole = whole_window(timeline.rank());
  Interval known{std::max(begin, whole.begin), std::min(end, whole.end)};
  known.end = std::max(known.begin, known.end);
  const std::vector<Interval> parts = recorded_parts(timeline.rank(), known);
  for (const Interval& part : parts) add_times(timeline.measures(part), measures);
  for (const RankTimeline::KernelOverlap& of_part : timeline.per_kernel_overlap(parts)) {
    kernels.covered_ns += of_part.covered_ns;
    kernels.total_ns += of_part.total_ns;
  }
  measures.known = !timeline.rank().was_lost_within(begin, end);
  set_ratios(kernels, measures);
  return measures;
}

}  // namespace lockstep::analyzer
