#include "analyzer/import/run/issues.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/import/rank/names.h"
#include "base/counts.h"

namespace lockstep::analyzer::run {
namespace {

// Sends and receives go together in one kernel.
Operation family(Operation operation) {
  return is_point_to_point(operation) ? Operation::send_recv : operation;
}

// The kernel's name says its operation, or is generic.
bool are_alike(Operation of_kernel, Operation issued) {
  // All-to-all, gather and scatter are made of sends and receives.
  const bool of_parts =
      issued == Operation::all_to_all || issued == Operation::gather || issued == Operation::scatter;
  return of_kernel == Operation::unknown || issued == Operation::unknown ||
         family(of_kernel) == family(issued) || (of_parts && family(of_kernel) == Operation::send_recv);
}

Operation named(const LaunchedKernel& kernel, const RankImport& import) {
  const Activity& activity = import.trace.activities[kernel.activity];
  return import.trace.communications[activity.communication].operation;
}

// What all of them say alike; `otherwise` if they differ.
template <class Range, class Get, class Value>
Value common(const Range& range, Get get, Value otherwise) {
  const Value first = get(range.front());
  for (const auto& each : range) {
    if (get(each) != first) return otherwise;
  }
  return first;
}

// -1 where one is not known, or the sum is none.
template <class Range>
std::int64_t sum_of_bytes(const Range& issues) {
  std::int64_t sum = 0;
  for (const auto& issue : issues) {
    if (issue.event.bytes == 0 || issue.event.bytes > INT64_MAX ||
        __builtin_add_overflow(sum, static_cast<std::int64_t>(issue.event.bytes), &sum))
      return -1;
  }
  return sum;
}

}  // namespace

void IssueJoin::add_issue(Reporter reporter, const trace::CollectiveIssue& issue, std::uint32_t lane,
                          std::uint32_t group) {
  ++(reporter == Reporter::library ? issue_count_ : framework_count_);
  if (issue.correlation == trace::kNoCorrelation) {
    threads_[lane].push_back({issue.begin, issue.end, {{issue, group}}, {}, reporter});
    return;
  }
  const auto [where, fresh] = correlated_[lane].try_emplace(issue.correlation);
  Batch& batch = where->second;
  batch.begin = fresh ? issue.begin : std::min(batch.begin, issue.begin);
  batch.end = fresh ? issue.end : std::max(batch.end, issue.end);
  batch.issues.push_back({issue, group});
}

void IssueJoin::sort() {
  for (auto& [lane, batches] : correlated_) {
    for (auto& [correlation, batch] : batches) threads_[lane].push_back(std::move(batch));
  }
  correlated_.clear();
  for (auto& [lane, batches] : threads_) {
    std::stable_sort(batches.begin(), batches.end(),
                     [](const Batch& a, const Batch& b) { return a.begin < b.begin; });
  }
  std::stable_sort(kernels_.begin(), kernels_.end(), [](const LaunchedKernel& a, const LaunchedKernel& b) {
    return std::tie(a.lane, a.launch_begin) < std::tie(b.lane, b.launch_begin);
  });
}

// The two number operations differently, and call groups differently: one of them must speak for all kernels.
void IssueJoin::drop_the_frameworks() {
  for (auto& [lane, batches] : threads_)
    std::erase_if(batches, [](const Batch& batch) { return batch.reporter == Reporter::framework; });
}

void IssueJoin::join(RankImport& import) {
  if (issue_count_ > 0) drop_the_frameworks();
  if (issue_count_ == 0) issue_count_ = framework_count_;
  if (issue_count_ == 0) return;
  sort();
  std::size_t joined = 0;
  for (auto first = kernels_.begin(); first != kernels_.end();) {
    const auto last = std::find_if(first, kernels_.end(),
                                   [&](const LaunchedKernel& kernel) { return kernel.lane != first->lane; });
    const auto thread = threads_.find(first->lane);
    if (thread != threads_.end()) {
      join_thread(thread->second, std::vector<LaunchedKernel>(first, last), import);
      for (Batch& batch : thread->second) {
        joined += batch.kernels.size();
        if (!batch.kernels.empty()) describe(batch, import);
      }
    }
    first = last;
  }
  warn(joined, import);
}

void IssueJoin::warn(std::size_t joined, RankImport& import) const {
  if (kernel_count_ == 0) {
    import.warn(
        "operations_without_intervals",
        fmt::format("{}: {} issued to a device, but when it ran them is not known: none of its communication "
                    "was recorded",
                    import.trace.file, format_plural(issue_count_, "operation was", "operations were")));
  } else if (joined < kernel_count_) {
    import.warn(
        "kernels_without_operation",
        fmt::format(
            "{}: of {} of {} communication kernels it is not known which operation of NCCL they carry "
            "out (CUDA graphs, or issued where nothing was recorded): they are matched by name",
            import.trace.file, kernel_count_ - joined, kernel_count_));
  }
}

bool IssueJoin::may_carry_out(const LaunchedKernel& kernel, const Batch& batch, const RankImport& import) {
  const Operation operation = named(kernel, import);
  return std::any_of(batch.issues.begin(), batch.issues.end(),
                     [&](const Issue& issue) { return are_alike(operation, issue.event.operation); });
}

void IssueJoin::join_thread(Batches& batches, const std::vector<LaunchedKernel>& kernels,
                            const RankImport& import) {
  const auto begins_after = [](Nanoseconds time, const Batch& batch) { return time < batch.begin; };
  std::vector<bool> found(kernels.size(), false);
  // The launch lies in the issue. Of several the innermost.
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto next = std::upper_bound(batches.begin(), batches.end(), kernels[i].launch_begin, begins_after);
    constexpr int kMaxNested = 8;
    for (int tries = 0; next != batches.begin() && tries < kMaxNested && !found[i]; ++tries) {
      --next;
      if (next->end < kernels[i].launch_end || !may_carry_out(kernels[i], *next, import)) continue;
      next->kernels.push_back(kernels[i]);
      found[i] = true;
    }
  }
  // Else the issue directly after the launch (libraries before 2.28 tell of it then), or directly before it:
  // with no other communication launched in between, and none that it belongs to already.
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (found[i]) continue;
    const auto next = std::upper_bound(batches.begin(), batches.end(), kernels[i].launch_begin, begins_after);
    const bool others_after =
        next != batches.end() && i + 1 < kernels.size() && kernels[i + 1].launch_begin < next->begin;
    // What a framework hands over in one go it launches at the end of it, outside of each single call: then
    // no call says what the kernel is.
    if (next != batches.end() && next->reporter == Reporter::framework) continue;
    if (next != batches.end() && !others_after && next->kernels.empty() &&
        may_carry_out(kernels[i], *next, import)) {
      next->kernels.push_back(kernels[i]);
      continue;
    }
    if (next == batches.begin()) continue;
    Batch& before = *std::prev(next);
    if (before.reporter == Reporter::framework) continue;
    const bool others_before = i > 0 && kernels[i - 1].launch_end > before.end;
    if (!others_before && before.kernels.empty() && may_carry_out(kernels[i], before, import))
      before.kernels.push_back(kernels[i]);
  }
}

// One kernel carries out all issues of its batch. Where a batch has several (a group of calls, as NVTX ranges
// tell of it), as many kernels as issues of a kind are one each, in order; else what they have in common is
// all that is known.
void IssueJoin::describe(Batch& batch, RankImport& import) {
  if (batch.kernels.size() == 1) return describe(batch.kernels.front(), batch.issues, import);
  std::set<Operation> families;
  for (const LaunchedKernel& kernel : batch.kernels) families.insert(family(named(kernel, import)));
  for (const Operation each : families) {
    std::vector<LaunchedKernel> kernels;
    std::vector<Issue> issues;
    for (const LaunchedKernel& kernel : batch.kernels)
      if (family(named(kernel, import)) == each) kernels.push_back(kernel);
    for (const Issue& issue : batch.issues)
      if (are_alike(each, issue.event.operation)) issues.push_back(issue);
    if (issues.empty()) continue;
    if (kernels.size() == 1) {
      describe(kernels.front(), issues, import);
      continue;
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (kernels.size() == issues.size()) {
        describe(kernels[i], {issues[i]}, import);
        continue;
      }
      std::vector<Issue> vague = issues;
      for (Issue& issue : vague) {
        issue.event.bytes = 0;
        issue.event.sequence = kNoSequence;
      }
      describe(kernels[i], vague, import);
    }
  }
}

void IssueJoin::describe(const LaunchedKernel& kernel, const std::vector<Issue>& issues, RankImport& import) {
  Activity& activity = import.trace.activities[kernel.activity];
  Communication& communication = import.trace.communications[activity.communication];
  communication.group = common(
      issues, [](const Issue& issue) { return issue.group; }, kNone);
  communication.has_metadata = communication.group != kNone;
  communication.data_type = common(
      issues, [](const Issue& issue) { return issue.event.data_type; }, DataType::unknown);
  const bool point_to_point = std::all_of(issues.begin(), issues.end(), [](const Issue& issue) {
    return is_point_to_point(issue.event.operation);
  });
  if (point_to_point) {
    const std::int32_t size =
        communication.group != kNone ? import.groups[communication.group].size : std::int32_t{0};
    describe_point_to_point(issues, size, communication);
  } else {
    // Several collectives of one kernel are one operation: all ranks put the same ones together.
    const Operation operation = common(
        issues, [](const Issue& issue) { return issue.event.operation; }, Operation::unknown);
    if (operation != Operation::unknown) communication.operation = operation;
    const auto first = std::find_if(issues.begin(), issues.end(), [&](const Issue& issue) {
      return issue.event.operation == communication.operation;
    });
    communication.sequence = first != issues.end() ? first->event.sequence : kNoSequence;
    communication.bytes = sum_of_bytes(issues);
    communication.peer = common(
        issues, [](const Issue& issue) { return issue.event.peer; }, kNoRank);
  }
  activity.activity_class = is_point_to_point(communication.operation) ? Class::p2p : Class::collective;
}

void IssueJoin::describe_point_to_point(const std::vector<Issue>& issues, std::int32_t group_size,
                                        Communication& communication) {
  std::vector<Issue> sends, receives;
  std::set<std::int32_t> to, from;
  for (const Issue& issue : issues) {
    if (issue.event.operation != Operation::recv) sends.push_back(issue), to.insert(issue.event.peer);
    if (issue.event.operation != Operation::send) receives.push_back(issue), from.insert(issue.event.peer);
  }
  const std::int64_t sent = sends.empty() ? 0 : sum_of_bytes(sends);
  const std::int64_t received = receives.empty() ? 0 : sum_of_bytes(receives);
  communication.bytes = sent < 0 || received < 0 ? -1 : std::max(sent, received);
  communication.sequence = kNoSequence;
  const auto everyone = static_cast<std::size_t>(std::max(group_size, 0));
  if (everyone > 2 && to.size() + 1 >= everyone && from.size() + 1 >= everyone) {
    communication.operation = Operation::all_to_all;
    communication.peer = kNoRank;
    return;
  }
  communication.operation = receives.empty() ? Operation::send
                            : sends.empty()  ? Operation::recv
                                             : Operation::send_recv;
  communication.peer = common(
      issues, [](const Issue& issue) { return issue.event.peer; }, kNoRank);
}

}  // namespace lockstep::analyzer::run
