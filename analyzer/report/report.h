// What an analysis found: the `lockstep.report/2` document as plain data (docs/metrics.md defines every
// field). The text and JSON reports, the exports and the viewer all show this and compute nothing of their
// own.
//
// Points in time are ns relative to `origin_ns`'s instant (the earliest device activity). Absent ratios are
// std::nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/report/measures.h"
#include "analyzer/report/part_comparison.h"
#include "analyzer/report/pipeline_report.h"
#include "analyzer/report/run_account.h"
#include "analyzer/report/theory_report.h"

namespace lockstep::analyzer {

// Why no finding accuses a rank of being late.
enum class NotAccused : std::uint8_t {
  cores_shared,         // cores are short on its host: the scheduler decides who is last
  cores_unknown,        // on CPUs: nothing recorded tells whether it lacked a core in what it does longer
  gpu_shared,           // it computes on a GPU that others use: who waits is the GPU's choice in part
  little_lost,          // the others lose too little by it
  rank_without_record,  // a rank that left no record may have come later
  stage_computes_more,  // its stage of a pipeline computes longer, which may be what it has to compute
  communication_alone,  // nothing else was recorded
  unsteady,             // not late for certain: its lateness moves by too much to settle it
  clock_error,          // not late for certain: by no more than the clocks leave open
};
const char* to_string(NotAccused reason);  // "cores_shared"

// How late one rank is, over all steps that were looked at (docs/statistics.md).
struct RankLateness {
  std::int32_t rank = 0;
  std::int64_t mean_ns = 0;      // a step: later than the median of the others; negative: earlier
  double share = 0;              // of a step
  std::int64_t movement_ns = 0;  // standard deviation of the means of blocks of steps
  // What the clocks leave open between it and the others: it is late by more, or nobody can tell.
  std::int64_t clock_error_ns = 0;
  double chance = 1;  // that any of so many healthy ranks would be late as consistently
  // Beyond chance, and by an amount that matters: throughout, or in the way that the finding says which
  // accuses it.
  bool is_late = false;
  // What it does longer than the others, where that explains at least half of it consistently; by how much a
  // step, and how long the median of the others does it.
  std::optional<Cause> cause = std::nullopt;
  std::int64_t cause_ns = 0;
  std::int64_t others_ns = 0;
  // Mean, share and movement are of the time that its training threads ran longer (late_by_cause.h).
  bool is_of_running = false;
  // Of a late rank one of both: the code of the finding that accuses it or its link, or why none does. Of one
  // that is not late the second alone, where nobody can tell whether it is.
  std::string accused_by = {};
  std::optional<NotAccused> not_accused_because = std::nullopt;
};

// Who is late, if anybody is.
struct LatenessReport {
  bool can_tell = false;           // there are enough steps, and two ranks or more
  std::int64_t steps = 0;          // of which every rank is known
  std::int64_t steps_needed = 0;   // at least, for so many ranks
  std::int64_t steps_to_tell = 0;  // until a rank late by 3 % of a step would show, about
  std::int64_t step_ns = 0;        // mean
  std::int64_t waiting_ns = 0;     // in collectives, outside of compute: mean of steps and ranks
  std::vector<RankLateness> ranks;
};

struct Report;
// Whether every rank's measures are known.
bool all_known(const Report& report);
// Of flight recorders' dumps alone: what ranks did beside communication, nobody wrote down.
bool tells_communication_alone(const Report& report);
// Where nobody wrote down what was computed, no overlap is no zero: the ratios become absent.
void forget_overlap(Report& report);
// Σ over ranks of transfer, in ns: of all operations, and of those that a rank without a record takes part
// in. What looks like transfer there may be waiting for that rank.
struct TransferTotals {
  std::int64_t all_ns = 0, doubtful_ns = 0;
  bool mostly_doubtful() const { return doubtful_ns > all_ns / 2; }
};
TransferTotals transfer_totals(const Report& report);

// To what times are known, where nobody can tell how much of communication is waiting: operations are
// typically shorter than that, and what is waiting beyond it is less than half of their time. Else 0.
// O(ranks of all operations).
std::int64_t blur_of_waits(const std::vector<CollectiveReport>& collectives, std::int64_t resolution_ns);

// Where in the trace a finding can be seen best: what to look at in the timeline.
struct FindingPlace {
  std::int32_t rank = 0;  // that loses most there
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> collective;  // CollectiveReport::id
  std::int64_t begin_ns = 0, end_ns = 0;
};

// Where ranks of a job that hung stand.
struct Standing {
  std::vector<std::int32_t> ranks;
  bool waits = false;      // in an operation that others never came to; else they are those others
  std::string where;       // the operation; of the others, what is known of them
  bool known = true;       // false: nobody knows whether they came
  bool elsewhere = false;  // in none of the operations that hung: they neither wait nor are waited for
};

// Whom or what a finding says is at fault.
enum class Accused : std::uint8_t {
  nobody,
  rank,
  link,  // or the way that data takes
  host,
  job,  // how the program or its settings are written: all ranks alike
};
const char* to_string(Accused accused);  // "rank"

// What comes before all that costs time, most urgent first.
enum class Alarm : std::uint8_t {
  none,
  hang,      // ranks wait for what never comes
  device,    // a rank's device stands still
  failure,   // the job ended with an error
  mismatch,  // ranks disagree about what they do together
};

// What a finding is about, where other sentences of the report have to know that.
enum class Topic : std::uint8_t {
  other,
  late_throughout,  // a rank is late over the whole run
  taking_turns,     // ranks are late in turn
  short_cores,
  pipeline_bubble,
  heavy_stage,  // a stage of a pipeline computes more than the others
  interrupted,  // somebody ended the job: no alarm, since they wanted it, and yet it is not whole
};

// Of which time of all ranks together a finding's loss is a share.
enum class Share : std::uint8_t {
  of_steady,    // the windows that the report is over
  of_training,  // all that was recorded between start-up and shutdown (Report::account)
  of_run,       // all that was recorded; such findings come behind all others
};
// " of the time between start-up and shutdown": behind such a share; empty of the windows.
const char* of_what(Share share);

// Made by its kind (analyzer/diagnose/finding_kind.h), which gives it what all findings of a kind share.
struct Finding {
  std::string code;
  std::string severity;  // "high", "medium", "low", "note"
  std::string title;
  std::vector<std::string> evidence;
  std::string remedy;
  std::int64_t lost_ns = 0;
  double lost_share = 0;  // of what `share` says
  // The cause whose time the loss is a part of: findings of one cause may speak of the same time. Absent
  // where nothing is lost, or it is of several.
  std::optional<Cause> cause = std::nullopt;
  std::optional<std::int32_t> rank = std::nullopt;  // that the finding is about, if it is about one
  std::optional<FindingPlace> place = std::nullopt;
  std::vector<Standing> standings = {};  // of a hang or a stuck device, each rank that is known of
  bool is_note = false;                  // nothing to mend: severity "note" whatever it costs
  Accused accuses = Accused::nobody;
  Alarm alarm = Alarm::none;
  // Why the rank of this finding is late, as a word for machines: "computes_longer"; "unknown"; "" where the
  // finding is not about lateness.
  std::string reason = {};
  Share share = Share::of_steady;
  // The loss holds time in which a training thread was ready to run and had no core, or may: that is a part
  // of what short cores cost, too.
  bool has_core_waits = false;
  std::int64_t own_ns = 0;  // part of lost_ns: that of the rank itself (not in the JSON)
  Topic topic = Topic::other;
  ComparedParts parts = {};  // of a rank that computes longer, where modules or operators were recorded
};

// Such a reason is what the rank's host does, or waits for. The delay analysis (BlameReport::root_cause)
// knows activities and ranges alone: of such time it says that it has no name.
inline bool is_of_host(std::string_view reason) {
  return reason == "blocked" || reason == "host" || reason == "more_launches" || reason == "waits_for_core";
}

// Neighbouring steps that are no steady training, for one reason.
struct StepsLeftOut {
  std::int64_t first = 0, last = 0;
  std::string reason;   // "warm-up", "compilation", "checkpoint", "evaluation", "start-up"
  std::int64_t ns = 0;  // Σ over them of the windows of the rank on which that is longest
  // Σ over them of what their reason took of the rank that it took longest of; 0 of warm-up and start-up.
  std::int64_t reason_ns = 0;
  std::optional<std::int32_t> rank = {};  // of which alone it took that: four times what it took of any other
};

// Which steps are steady training (docs/metrics.md), and the ranks over these alone. Findings, blame,
// efficiency and every table of the report but ranks[], steps[] and collectives[] are over them.
struct SteadyReport {
  std::vector<std::int64_t> steps;     // ascending, at least one
  std::vector<StepsLeftOut> left_out;  // ascending; none: all steps are steady
  std::vector<RankReport> ranks;       // ranks[], over the windows of `steps`
};

struct Report {
  std::string path;
  std::optional<std::int64_t> origin_ns;  // ns since 1970
  std::int64_t origin_aligned_ns = 0;     // the same instant on the Job's axis (not in the JSON)
  std::vector<std::string> sources;
  Dumps dumps = Dumps::none;  // not in the JSON
  // blur_of_waits() of its operations (not in the JSON): waits shorter than that are counted all the same.
  std::int64_t waits_blurred_ns = 0;
  std::int32_t world_size = 0;
  std::vector<std::int32_t> ranks_present, ranks_missing;
  std::vector<std::int64_t> steps_present;
  std::optional<SteadyReport>
      steady;  // absent: the report is over all of the run, or over the steps asked for
  // Those of steps_present that are no steady training, where that can be told: also of a report that is over
  // them (--all-steps, --steps). Not in the JSON.
  std::vector<std::int64_t> not_steady;
  AccountReport account;
  std::int64_t unmatched = 0;
  std::vector<Warning> warnings;
  std::vector<RankReport> ranks;
  std::vector<StepReport> steps;              // sorted by (step, rank)
  std::vector<CollectiveReport> collectives;  // in order of first arrival
  std::vector<WaitStateReport> wait_states;   // most waiting first; those that somebody was in
  std::vector<GroupReport> groups;            // most communication first
  std::vector<BucketReport> buckets;          // in the groups' order, as a step issues them
  std::vector<PipelineReport> pipeline;
  std::vector<LayerReport> layers;      // parts without a number first, then by number
  std::vector<CounterReport> counters;  // by name, then rank
  std::vector<TheoryReport> theory;     // in the order of their definitions (docs/metrics.md)
  std::vector<BlameReport> blame;       // greatest first
  LatenessReport lateness;
  EfficiencyReport efficiency;
  std::vector<Finding> findings;  // greatest loss first
  bool some_ranks_only =
      false;  // ranks[] was restricted; findings and blame are of the whole job all the same
  bool steady_only =
      false;  // ranks[], steps[] and collectives[] are those of steady training (steady_view.h)
};

}  // namespace lockstep::analyzer
