#include "analyzer/analysis_oracle.h"

#include <algorithm>

namespace lockstep::analyzer::oracle {
namespace {

using trace::Operation;

const Activity& activity(const Job& job, std::pair<std::size_t, std::size_t> member) {
  const RankTrace& rank = job.ranks[member.first];
  return rank.activities[rank.communications[member.second].activity];
}

bool covers(const Activity& activity, std::int64_t time) {
  return activity.begin <= time && time < activity.end;
}

bool n_to_n(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::all_gather ||
         operation == Operation::reduce_scatter || operation == Operation::all_to_all ||
         operation == Operation::barrier;
}

bool computes(const RankTrace& rank, std::int64_t time) {
  for (const Activity& a : rank.activities) {
    if (a.activity_class == Class::compute && covers(a, time)) return true;
  }
  return false;
}

bool is_of(const Job& job, const std::pair<std::size_t, std::size_t>& member, Operation operation) {
  return job.ranks[member.first].communications[member.second].operation == operation;
}

// A send that ends before its receive begins.
bool sent_ahead(const Job& job, const oracle::Together& operation, std::size_t one, std::size_t other) {
  return operation.point_to_point && is_of(job, operation.members[one], Operation::send) &&
         is_of(job, operation.members[other], Operation::recv) &&
         activity(job, operation.members[one]).end + 1 < activity(job, operation.members[other]).begin;
}

// L_r of docs/metrics.md for member i; nothing where it waits for nobody.
std::optional<std::int64_t> waited_for(const Job& job, const oracle::Together& operation, std::size_t i) {
  if (operation.members.size() == 2 && sent_ahead(job, operation, i, 1 - i)) return std::nullopt;
  std::int64_t latest = activity(job, operation.members[0]).begin;
  std::optional<std::size_t> root;
  for (std::size_t k = 0; k < operation.members.size(); ++k) {
    latest = std::max(latest, activity(job, operation.members[k]).begin);
    if (job.ranks[operation.members[k].first].rank == operation.root) root = k;
  }
  switch (operation.operation) {
    case Operation::broadcast:
    case Operation::scatter:
      if (operation.root == kNoRank) return latest;
      if (!root || *root == i) return std::nullopt;
      return activity(job, operation.members[*root]).begin;
    case Operation::reduce:
    case Operation::gather:
      if (operation.root == kNoRank) return latest;
      if (!root || *root != i) return std::nullopt;
      return latest;
    default:
      return latest;
  }
}

// Wait interval of a communication of this rank, over all operations.
struct Wait {
  std::int64_t begin = 0, until = 0, end = 0;
  bool point_to_point = false, pipeline = false;
};

std::optional<std::int64_t> step_of(const RankTrace& rank, const Activity& a) {
  if (a.launch_end == kUnknownTime) return std::nullopt;
  for (const StepMark& step : rank.steps) {
    if (step.begin <= a.launch_end && a.launch_end <= step.end) return step.number;
  }
  return std::nullopt;
}

Pass pass_of(const RankTrace& rank, const Activity& a) {
  return a.compute == kNone ? Pass::other : rank.computations[a.compute].pass;
}

// First forward start to last backward end; nothing where a rank has neither in the step.
std::optional<Window> region_of_passes(const Job& job, std::optional<std::int64_t> step) {
  std::vector<std::int64_t> forwards, backwards;
  for (const RankTrace& rank : job.ranks) {
    bool any = false;
    for (const Activity& a : rank.activities) {
      if (step_of(rank, a) != step) continue;
      if (pass_of(rank, a) == Pass::forward) forwards.push_back(a.begin), any = true;
      if (pass_of(rank, a) == Pass::backward) backwards.push_back(a.end), any = true;
    }
    if (!any) return std::nullopt;
  }
  if (forwards.empty() || backwards.empty()) return std::nullopt;
  const Window window{*std::min_element(forwards.begin(), forwards.end()),
                      *std::max_element(backwards.begin(), backwards.end())};
  return window.begin < window.end ? std::optional(window) : std::nullopt;
}

std::vector<Wait> waits_of(const Job& job, std::size_t rank,
                           const std::vector<oracle::Together>& operations) {
  std::vector<Wait> waits;
  const RankTrace& trace = job.ranks[rank];
  for (std::size_t index = 0; index < trace.communications.size(); ++index) {
    const Activity& own = trace.activities[trace.communications[index].activity];
    Wait wait{own.begin, own.begin, own.end};
    for (const oracle::Together& operation : operations) {
      for (std::size_t i = 0; i < operation.members.size(); ++i) {
        if (operation.members[i] != std::pair(rank, index)) continue;
        const std::optional<std::int64_t> latest = waited_for(job, operation, i);
        if (latest) wait.until = std::max(own.begin, std::min(own.end, *latest));
        wait.point_to_point = operation.point_to_point;
        wait.pipeline = operation.pipeline;
      }
    }
    waits.push_back(wait);
  }
  return waits;
}

int idle_cause(const RankTrace& rank, std::int64_t time) {
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind == HostKind::data_loading && range.begin <= time && time < range.end) return 5;
  }
  // All that start next, together; the one launched first counts.
  std::optional<std::int64_t> next_begin;
  for (const Activity& a : rank.activities) {
    if (a.activity_class != Class::sync && a.begin > time)
      next_begin = std::min(next_begin.value_or(a.begin), a.begin);
  }
  const Activity* next = nullptr;
  for (const Activity& a : rank.activities) {
    if (a.activity_class == Class::sync || !next_begin || a.begin != *next_begin ||
        a.launch_end == kUnknownTime)
      continue;
    if (next == nullptr || a.launch_begin < next->launch_begin) next = &a;
  }
  if (next == nullptr) return 8;
  // A CUDA graph's kernels are launched together: once one of them ran, the others are no host's matter.
  for (const Activity& a : rank.activities) {
    if (a.activity_class != Class::sync && a.begin <= time && a.begin >= a.launch_begin &&
        a.launch_begin == next->launch_begin && a.launch_end == next->launch_end)
      return 7;
  }
  return next->launch_end > time ? 6 : 7;
}

}  // namespace

std::map<std::optional<std::int64_t>, Window> pipeline_regions(const Job& job) {
  std::map<std::optional<std::int64_t>, Window> regions;
  std::set<std::optional<std::int64_t>> steps;
  bool marked = false, messages = false;
  for (const RankTrace& rank : job.ranks) {
    marked = marked || !rank.steps.empty();
    for (const StepMark& step : rank.steps) steps.insert(step.number);
  }
  if (!marked) steps = {std::nullopt};
  // Matched or not.
  const auto is_message = [&job](const Communication& c) {
    return (c.operation == Operation::send || c.operation == Operation::recv) && c.group != kNone &&
           job.groups[c.group].description == "pp";
  };
  for (const RankTrace& rank : job.ranks)
    for (const Communication& c : rank.communications) messages = messages || is_message(c);
  if (!messages) return regions;
  bool any_passes = false;
  for (const std::optional<std::int64_t>& step : steps)
    any_passes = any_passes || region_of_passes(job, step).has_value();
  for (const std::optional<std::int64_t>& step : steps) {
    if (const std::optional<Window> passes = region_of_passes(job, step)) {
      regions[step] = *passes;
      continue;
    }
    // A step that not all have ended is none where others tell passes.
    std::size_t ended = 0;
    for (const RankTrace& rank : job.ranks)
      for (const StepMark& mark : rank.steps) ended += mark.number == step ? 1 : 0;
    if (any_passes && ended < job.ranks.size()) continue;
    std::vector<std::int64_t> begins, ends;
    for (const RankTrace& rank : job.ranks) {
      for (const Communication& c : rank.communications) {
        const Activity& a = rank.activities[c.activity];
        if (!is_message(c) || step_of(rank, a) != step) continue;
        begins.push_back(a.begin);
        ends.push_back(a.end);
      }
    }
    if (begins.empty()) continue;
    regions[step] = {*std::min_element(begins.begin(), begins.end()),
                     *std::max_element(ends.begin(), ends.end())};
  }
  return regions;
}

std::int64_t pipeline_bubble(const Job& job, const std::vector<oracle::Together>& operations) {
  const auto regions = pipeline_regions(job);
  // Only passes count as compute, where every region is one of passes.
  bool passes = true;
  for (const auto& [step, region] : regions) passes = passes && region_of_passes(job, step).has_value();
  std::int64_t bubble = 0;
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    const RankTrace& trace = job.ranks[rank];
    const std::vector<Wait> waits = waits_of(job, rank, operations);
    for (const auto& [step, region] : regions) {
      for (std::int64_t t = region.begin; t < region.end; ++t) {
        bool busy = false;
        for (const Activity& a : trace.activities) {
          const Pass pass = pass_of(trace, a);
          const bool counts =
              !passes || pass == Pass::forward || pass == Pass::backward || pass == Pass::recompute;
          busy = busy || (a.activity_class == Class::compute && counts && covers(a, t));
        }
        for (const Wait& wait : waits) busy = busy || (wait.until <= t && t < wait.end);
        bubble += busy ? 0 : 1;
      }
    }
  }
  return bubble;
}

bool possible(const Job& job, const oracle::Together& operation) {
  if (!operation.point_to_point && !n_to_n(operation.operation)) return true;
  for (std::size_t one = 0; one < operation.members.size(); ++one) {
    for (std::size_t other = 0; other < operation.members.size(); ++other) {
      if (activity(job, operation.members[one]).end + 1 < activity(job, operation.members[other]).begin &&
          !sent_ahead(job, operation, one, other))
        return false;
    }
  }
  return true;
}

OperationAnswer answer(const Job& job, const oracle::Together& operation) {
  OperationAnswer result;
  const std::size_t count = operation.members.size();
  std::optional<std::size_t> root;
  for (std::size_t i = 0; i < count; ++i) {
    const Activity& own = activity(job, operation.members[i]);
    const std::optional<std::int64_t> latest = waited_for(job, operation, i);
    const std::int64_t wait = latest ? std::max<std::int64_t>(0, std::min(own.end, *latest) - own.begin) : 0;
    result.wait.push_back(wait);
    result.transfer.push_back(own.end - own.begin - wait);
    std::int64_t hidden = 0;
    for (std::int64_t t = own.begin; t < own.begin + wait; ++t) {
      hidden += computes(job.ranks[operation.members[i].first], t) ? 1 : 0;
    }
    result.hidden.push_back(hidden);
    if (job.ranks[operation.members[i].first].rank == operation.root) root = i;
  }
  const std::int64_t longest = *std::max_element(result.wait.begin(), result.wait.end());
  if (longest == 0) return result;
  const bool from_root =
      operation.operation == Operation::broadcast || operation.operation == Operation::scatter;
  if (from_root && operation.root != kNoRank) {
    if (!root || longest <= 1) return result;
    result.last_arriver = operation.root;
    result.margin = longest;
    return result;
  }
  std::vector<std::pair<std::int64_t, std::int32_t>> arrivals;
  for (const auto& member : operation.members) {
    arrivals.emplace_back(activity(job, member).begin, job.ranks[member.first].rank);
  }
  std::sort(arrivals.rbegin(), arrivals.rend());
  if (arrivals.size() < 2 || arrivals[0].first - arrivals[1].first <= 1) return result;
  const bool to_root = operation.operation == Operation::reduce || operation.operation == Operation::gather;
  if (to_root && operation.root != kNoRank && arrivals[0].second == operation.root) return result;
  result.last_arriver = arrivals[0].second;
  result.margin = arrivals[0].first - arrivals[1].first;
  return result;
}

std::optional<Window> whole_window(const RankTrace& rank) {
  std::optional<Window> window;
  for (const Activity& a : rank.activities) {
    if (a.activity_class == Class::sync) continue;
    if (!window) window = Window{a.begin, a.end};
    window->begin = std::min(window->begin, a.begin);
    window->end = std::max(window->end, a.end);
  }
  return window;
}

std::vector<Window> step_windows(const RankTrace& rank) {
  // (first begin, last end) of what each step launched.
  std::vector<std::optional<Window>> launched(rank.steps.size());
  for (const Activity& a : rank.activities) {
    if (a.activity_class == Class::sync || a.launch_end == kUnknownTime) continue;
    for (std::size_t k = 0; k < rank.steps.size(); ++k) {
      if (a.launch_end < rank.steps[k].begin || a.launch_end > rank.steps[k].end) continue;
      if (!launched[k]) launched[k] = Window{a.begin, a.end};
      launched[k]->begin = std::min(launched[k]->begin, a.begin);
      launched[k]->end = std::max(launched[k]->end, a.end);
      break;
    }
  }
  std::vector<Window> windows;
  for (std::size_t k = 0; k < rank.steps.size(); ++k) {
    Window window{rank.steps[k].begin, rank.steps[k].end};
    if (launched[k]) window = *launched[k];
    if (launched[k] && k + 1 < launched.size() && launched[k + 1]) window.end = launched[k + 1]->begin;
    if (!windows.empty()) window.begin = std::max(window.begin, windows.back().end);
    window.end = std::max(window.begin, window.end);
    windows.push_back(window);
  }
  return windows;
}

int cause_at(const Job& job, std::size_t rank, const std::vector<oracle::Together>& operations,
             std::int64_t time) {
  const RankTrace& trace = job.ranks[rank];
  if (computes(trace, time)) return 0;
  const std::vector<Wait> waits = waits_of(job, rank, operations);
  bool barrier = false, bubble = false;
  for (const Wait& wait : waits) {
    if (wait.until <= time && time < wait.end) return 1;
    if (wait.begin <= time && time < wait.until) (wait.pipeline ? bubble : barrier) = true;
  }
  if (barrier) return 2;
  if (bubble) return 3;
  bool unclassified = false;
  for (const Activity& a : trace.activities) {
    if (a.activity_class == Class::copy && covers(a, time)) return 4;
    unclassified = unclassified || (a.activity_class == Class::unclassified && covers(a, time));
  }
  if (unclassified) return 8;
  for (const auto& [step, region] : pipeline_regions(job)) {
    if (region.begin <= time && time < region.end) return 3;
  }
  return idle_cause(trace, time);
}

WindowAnswer answer(const Job& job, std::size_t rank, const std::vector<oracle::Together>& operations,
                    Window window) {
  WindowAnswer result;
  const RankTrace& trace = job.ranks[rank];
  const std::vector<Wait> waits = waits_of(job, rank, operations);
  for (std::int64_t t = window.begin; t < window.end; ++t) {
    ++result.causes[static_cast<std::size_t>(cause_at(job, rank, operations, t))];
    const bool compute = computes(trace, t);
    bool communication = false, unclassified = false, barrier = false, p2p = false;
    for (const Activity& a : trace.activities) {
      unclassified = unclassified || (a.activity_class == Class::unclassified && covers(a, t));
      if (a.communication == kNone || !covers(a, t)) continue;
      communication = true;
      ++result.kernels;
      if (compute) ++result.kernels_covered;
    }
    for (const Wait& wait : waits) {
      if (wait.begin <= t && t < wait.until) (wait.point_to_point ? p2p : barrier) = true;
    }
    result.compute += compute;
    result.communication += communication;
    result.overlap += compute && communication;
    result.unclassified += unclassified;
    result.barrier_wait += barrier && !compute;
    result.hidden_barrier_wait += barrier && compute;
    result.p2p_wait += p2p && !compute;
    result.hidden_p2p_wait += p2p && compute;
  }
  return result;
}

}  // namespace lockstep::analyzer::oracle
