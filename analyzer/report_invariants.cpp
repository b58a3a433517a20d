#include "analyzer/report_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyzer/diagnose/accusation.h"
#include "analyzer/report/measure_words.h"

namespace lockstep::analyzer {
namespace {

class Checker {
 public:
  explicit Checker(const Report& report) : report_(report) {
    for (const RankReport& rank : report.ranks) {
      time_of_[rank.rank] = rank.end_ns - rank.begin_ns;
      all_ += rank.end_ns - rank.begin_ns;
    }
  }

  std::vector<std::string> run() && {
    for (const RankReport& rank : report_.ranks) {
      const std::string who = fmt::format("rank {}", rank.rank);
      at_most(who, "window", rank.measures.window_ns, "whole window", rank.end_ns - rank.begin_ns);
      measures(who, rank.measures);
    }
    steps();
    if (report_.steady) steady(*report_.steady);
    account();
    for (const CollectiveReport& collective : report_.collectives) operation(collective);
    groups();
    wait_states();
    buckets();
    for (const PipelineReport& pipeline : report_.pipeline) stages(pipeline);
    layers();
    losses();
    judgement();
    return std::move(broken_);
  }

 private:
  // 0 <= part <= whole.
  void at_most(const std::string& where, const char* part, std::int64_t ns, const char* whole,
               std::int64_t of_ns) {
    if (ns < 0 || ns > of_ns)
      broken_.push_back(fmt::format("{}: {} {} is not within {} {}", where, part, ns, whole, of_ns));
  }
  void equal(const std::string& where, const char* one, std::int64_t ns, const char* other,
             std::int64_t other_ns) {
    if (ns != other_ns)
      broken_.push_back(fmt::format("{}: {} {} is not {} {}", where, one, ns, other, other_ns));
  }

  void measures(const std::string& where, const Measures& m) {
    if (!m.known) return;
    for (std::size_t cause = 0; cause < kCauseCount; ++cause)
      at_most(where, to_string(static_cast<Cause>(cause)), m.partition.ns[cause], "window", m.window_ns);
    equal(where, "sum of causes", m.partition.total(), "window", m.window_ns);
    equal(where, "cause compute", m.partition[Cause::compute], "compute", m.compute_ns);
    at_most(where, "compute", m.compute_ns, "window", m.window_ns);
    at_most(where, "communication", m.communication_ns, "window", m.window_ns);
    at_most(where, "unclassified", m.unclassified_ns, "window", m.window_ns);
    at_most(where, "overlap", m.overlap_ns, "compute", m.compute_ns);
    at_most(where, "overlap", m.overlap_ns, "communication", m.communication_ns);
    equal(where, "exposed communication", m.exposed_communication_ns, "communication without overlap",
          m.communication_ns - m.overlap_ns);
    at_most(where, "transfer", m.partition[Cause::transfer], "exposed communication",
            m.exposed_communication_ns);
    for (const std::int64_t exposed : {m.collective_wait_ns, m.p2p_wait_ns})
      at_most(where, "exposed wait", exposed, "exposed communication", m.exposed_communication_ns);
    for (const std::int64_t hidden : {m.hidden_collective_wait_ns, m.hidden_p2p_wait_ns})
      at_most(where, "hidden wait", hidden, "overlap", m.overlap_ns);
  }

  void steps() {
    for (const StepReport& step : report_.steps) {
      const std::string where = fmt::format("step {} of rank {}", step.step, step.rank);
      equal(where, "window", step.measures.window_ns, "its length", step.end_ns - step.begin_ns);
      measures(where, step.measures);
    }
  }

  // Each rank over the steady steps: exactly what these sum to.
  void steady(const SteadyReport& steady) {
    const auto counts = [&steady](std::int64_t step) {
      return std::binary_search(steady.steps.begin(), steady.steps.end(), step);
    };
    const std::vector<std::int64_t>& present = report_.steps_present;
    hold(!steady.steps.empty() && std::is_sorted(steady.steps.begin(), steady.steps.end()), "steady",
         "no steps, or they do not ascend");
    hold(std::includes(present.begin(), present.end(), steady.steps.begin(), steady.steps.end()), "steady",
         "a step that is not there");
    for (const StepsLeftOut& part : steady.left_out) {
      const auto first = std::lower_bound(steady.steps.begin(), steady.steps.end(), part.first);
      hold(part.first <= part.last && (first == steady.steps.end() || *first > part.last),
           fmt::format("steps {} to {}", part.first, part.last), "left out, and steady");
    }
    for (const RankReport& rank : steady_ranks()) {
      const std::string where = fmt::format("steady training of rank {}", rank.rank);
      measures(where, rank.measures);
      Partition sum;
      std::int64_t windows = 0;
      for (const StepReport& step : report_.steps) {
        if (step.rank != rank.rank || !counts(step.step)) continue;
        windows += step.measures.window_ns;
        for (std::size_t cause = 0; cause < kCauseCount; ++cause)
          sum.ns[cause] += step.measures.partition.ns[cause];
      }
      equal(where, "window", rank.measures.window_ns, "sum of its steps", windows);
      for (std::size_t cause = 0; cause < kCauseCount; ++cause)
        equal(where, to_string(static_cast<Cause>(cause)), rank.measures.partition.ns[cause],
              "sum of its steps", sum.ns[cause]);
    }
  }

  // The ranks over the windows that findings and tables are over.
  const std::vector<RankReport>& steady_ranks() const {
    return report_.steady && !report_.steady_only ? report_.steady->ranks : report_.ranks;
  }

  void account() {
    const AccountReport& account = report_.account;
    std::map<std::int32_t, std::int64_t> steps_of;  // by rank: its steps' windows
    for (const StepReport& step : report_.steps) steps_of[step.rank] += step.measures.window_ns;
    Account sum;
    for (const RankAccount& rank : account.ranks) {
      const std::string where = fmt::format("account of rank {}", rank.rank);
      for (std::size_t i = 0; i < kSpendingCount; ++i) {
        at_most(where, to_string(static_cast<Spending>(i)), rank.spent.ns[i], "wall time", account.wall_ns);
        sum.ns[i] += rank.spent.ns[i];
      }
      equal(where, "all that it spent", rank.spent.total(), "wall time", account.wall_ns);
      at_most(where, "checkpoints beside", rank.checkpoint_beside_ns, "wall time", account.wall_ns);
      if (time_of_.contains(rank.rank))
        at_most(where, "its window", time_of_.at(rank.rank), "wall time", account.wall_ns);
      if (report_.steady && !report_.steady_only)  // all steps are there
        at_most(where, "warm-up and steady", rank.spent[Spending::warm_up] + rank.spent[Spending::steady],
                "its steps", steps_of[rank.rank]);
    }
    for (std::size_t i = 0; i < kSpendingCount; ++i)
      equal("account", to_string(static_cast<Spending>(i)), account.spent.ns[i], "sum of ranks", sum.ns[i]);
    if (!account.goodput) return;
    hold(*account.goodput >= 0 && *account.goodput <= 1, "account", "goodput is no share");
    const bool all_whole = std::none_of(report_.ranks.begin(), report_.ranks.end(),
                                        [](const RankReport& rank) { return rank.damaged; });
    if (all_whole && !report_.some_ranks_only)
      hold(close(*account.goodput, sum[Spending::steady], sum.recorded()), "account",
           "goodput is not steady of what was recorded");
  }

  void operation(const CollectiveReport& c) {
    const std::string where = fmt::format("operation {}", c.id);
    std::int64_t waits = 0;
    for (const CollectiveRank& rank : c.ranks) {
      const std::int64_t length = rank.end_ns - rank.arrival_ns;
      at_most(where, "wait", rank.wait_ns, "its interval", length);
      at_most(where, "transfer", rank.transfer_ns, "its interval", length);
      equal(where, "wait and transfer", rank.wait_ns + rank.transfer_ns, "its interval", length);
      at_most(where, "hidden wait", rank.hidden_ns, "wait", rank.wait_ns);
      at_most(where, "covered", rank.covered_ns, "its interval", length);
      waits += rank.wait_ns;
    }
    equal(where, "wait of all", c.wait_ns, "sum of waits", waits);
  }

  // The time of a group's ranks that are in the report; of all, where it names none. Files that contradict
  // themselves have ranks that take part in a group which they are no member of.
  std::int64_t time_of(const GroupReport& group) const {
    if (group.ranks.empty()) return all_;
    std::set<std::int32_t> ranks(group.ranks.begin(), group.ranks.end());
    for (const CollectiveReport& c : report_.collectives) {
      if (c.group_name != group.name || c.group_ranks != group.ranks) continue;
      for (const CollectiveRank& rank : c.ranks) ranks.insert(rank.rank);
    }
    std::int64_t sum = 0;
    for (const std::int32_t rank : ranks) sum += time_of_.contains(rank) ? time_of_.at(rank) : 0;
    return sum;
  }

  void groups() {
    if (report_.some_ranks_only) return;  // their participants are not all in ranks[]
    for (const GroupReport& group : report_.groups) {
      const std::int64_t time = time_of(group);
      for (const GroupOperation& row : group.operations) {
        const std::string where = fmt::format("{} of group {}", trace::to_string(row.operation), group.name);
        const std::int64_t both = row.transfer_ns + row.wait_ns.value_or(0);
        at_most(where, "transfer", row.transfer_ns, "wait and transfer", both);
        at_most(where, "wait and transfer", both, "time of its ranks", time);
        if (row.exposed_ns && row.wait_ns)
          at_most(where, "exposed", *row.exposed_ns, "wait and transfer", both);
      }
    }
  }

  void wait_states() {
    for (const WaitStateReport& row : report_.wait_states) {
      const std::string where = to_string(row.state);
      if (time_of_.contains(row.worst_rank))
        at_most(where, "its worst rank's wait", row.worst_rank_ns, "that rank's time",
                time_of_.at(row.worst_rank));
      at_most(where, "wait", row.wait_ns, "time of all ranks", all_);
      at_most(where, "worst rank's wait", row.worst_rank_ns, "wait", row.wait_ns);
      if (row.exposed_ns) at_most(where, "exposed wait", *row.exposed_ns, "wait", row.wait_ns);
    }
  }

  void buckets() {
    for (const BucketReport& row : report_.buckets) {
      const std::string where = fmt::format("bucket {} of {}", row.position, row.group_name);
      if (!row.hidden_ns || !row.exposed_transfer_ns) continue;
      equal(where, "hidden and exposed",
            *row.hidden_ns + *row.exposed_transfer_ns + row.exposed_wait_ns.value_or(0), "wait and transfer",
            row.transfer_ns + row.wait_ns.value_or(0));
      at_most(where, "exposed transfer", *row.exposed_transfer_ns, "transfer", row.transfer_ns);
    }
  }

  void stages(const PipelineReport& pipeline) {
    for (const PipelineStage& stage : pipeline.stages_detail) {
      const std::string where = fmt::format("stage {} of {}", stage.stage, pipeline.group);
      equal(where, "compute, transfer and bubble",
            stage.compute_ns + stage.exposed_transfer_ns + stage.bubble_ns, "its regions",
            pipeline.region_ns);
      for (const std::int64_t part : {stage.compute_ns, stage.exposed_transfer_ns, stage.bubble_ns})
        at_most(where, "a part", part, "its regions", pipeline.region_ns);
      if (time_of_.contains(stage.rank)) {
        for (const std::int64_t passes : {stage.forward_ns, stage.backward_ns, stage.recompute_ns})
          at_most(where, "passes", passes, "its rank's time", time_of_.at(stage.rank));
      }
      if (stage.warm_up_ns && stage.steady_ns && stage.cool_down_ns)
        equal(where, "bubble's parts", *stage.warm_up_ns + *stage.steady_ns + *stage.cool_down_ns, "bubble",
              stage.bubble_ns);
    }
  }

  void layers() {
    for (const LayerReport& layer : report_.layers) {
      for (const std::optional<LayerPass>& pass : {layer.forward, layer.backward, layer.recompute}) {
        if (!pass || !time_of_.contains(pass->slowest_rank)) continue;
        at_most(layer_name(layer), "longest pass", pass->max_ns, "its rank's time",
                time_of_.at(pass->slowest_rank));
      }
    }
  }

  void losses() {
    if (report_.some_ranks_only) return;  // these are of the whole job
    for (const BlameReport& blame : report_.blame) {
      const std::string where = fmt::format("blame of rank {}", blame.rank);
      at_most(where, "exposed", blame.exposed_ns, "time of all ranks", all_);
      at_most(where, "exposed", blame.exposed_ns, "blame", blame.blame_ns);
    }
    for (const Finding& finding : report_.findings) {
      // What is lost beside training lies in no window.
      at_most(finding.code, "loss", finding.lost_ns, "time of all ranks",
              std::max(all_, report_.account.spent.total()));
      if (!(finding.lost_share >= 0 && finding.lost_share <= 1))
        broken_.push_back(fmt::format("{}: share {}", finding.code, finding.lost_share));
      const std::int64_t whole = whole_of(finding.share);
      if (whole <= 0) continue;
      at_most(finding.code, "loss", finding.lost_ns, "what it is a share of", whole);
      hold(close(finding.lost_share, finding.lost_ns, whole), finding.code, "its share is another than loss");
    }
  }

  // Of which such a share is: of the windows, those of the ranks that are known.
  std::int64_t whole_of(Share share) const {
    if (share == Share::of_training) return report_.account.training_ns();
    if (share == Share::of_run) return report_.account.recorded_ns();
    std::int64_t sum = 0;
    for (const RankReport& rank : steady_ranks())
      if (rank.measures.known) sum += rank.measures.window_ns;
    return sum;
  }

  static bool close(double share, std::int64_t part, std::int64_t whole) {
    return std::abs(share - static_cast<double>(part) / static_cast<double>(whole)) < 1e-9;
  }

  void hold(bool holds, const std::string& where, const char* what) {
    if (!holds) broken_.push_back(where + ": " + what);
  }

  const RankLateness* lateness_of_rank(std::int32_t rank) const {
    const std::vector<RankLateness>& ranks = report_.lateness.ranks;
    const auto found = std::find_if(ranks.begin(), ranks.end(),
                                    [rank](const RankLateness& late) { return late.rank == rank; });
    return found == ranks.end() ? nullptr : &*found;
  }

  // Findings, lateness and blame say one thing of who is late.
  void judgement() {
    for (const Finding& finding : report_.findings) {
      if (!is_about_lateness(finding)) continue;
      const RankLateness* const late = finding.rank ? lateness_of_rank(*finding.rank) : nullptr;
      hold(late != nullptr && late->is_late && late->accused_by == finding.code, finding.code,
           "lateness does not say so");
      const auto blame = std::find_if(report_.blame.begin(), report_.blame.end(),
                                      [&](const BlameReport& one) { return one.rank == finding.rank; });
      hold(blame != report_.blame.end() && blame->persistent == true, finding.code, "blame does not say so");
    }
    for (const RankLateness& late : report_.lateness.ranks) {
      const std::string where = fmt::format("lateness of rank {}", late.rank);
      const bool is_accused = std::any_of(
          report_.findings.begin(), report_.findings.end(),
          [&](const Finding& one) { return one.rank == late.rank && one.code == late.accused_by; });
      hold(is_accused == !late.accused_by.empty(), where, "accused by a finding that is not there");
      hold(!is_accused || (late.is_late && !late.not_accused_because), where, "accused, and not");
      hold(!late.is_late || is_accused || late.not_accused_because, where, "not accused without a reason");
    }
    for (const BlameReport& blame : report_.blame) {
      const RankLateness* const late = lateness_of_rank(blame.rank);
      hold(!blame.persistent || (late != nullptr && late->is_late == *blame.persistent),
           fmt::format("blame of rank {}", blame.rank), "persistent, and lateness does not say so");
    }
  }

  const Report& report_;
  std::map<std::int32_t, std::int64_t> time_of_;  // by rank: its whole window
  std::int64_t all_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_invariants(const Report& report) {
  return Checker(report).run();
}

}  // namespace lockstep::analyzer
