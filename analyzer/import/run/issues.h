// Which operation a communication kernel carries out: what issues say (trace::CollectiveIssue), NCCL's or,
// where it said nothing, the framework's, joined to the kernels by their launches. Rules: docs/metrics.md,
// "NCCL's kernels".
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/import/rank/rank_import.h"
#include "trace/events/event.h"

namespace lockstep::analyzer::run {

// A communication kernel, and the call that launched it.
struct LaunchedKernel {
  std::uint32_t activity = 0;  // RankTrace::activities
  std::uint32_t lane = 0;      // the thread that launched it
  Nanoseconds launch_begin = 0;
  Nanoseconds launch_end = 0;
};

class IssueJoin {
 public:
  enum class Reporter { library, framework };
  // `group`: in the import's groups, or kNone. `lane`: the thread's.
  void add_issue(Reporter reporter, const trace::CollectiveIssue& issue, std::uint32_t lane,
                 std::uint32_t group);
  void add_kernel(const LaunchedKernel& kernel) { kernels_.push_back(kernel); }
  // A communication kernel, whether its launch is known or not.
  void count_kernel() { ++kernel_count_; }

  // Says of each kernel what its issues say. Kernels without an issue keep what their name says, and issues
  // without a kernel are no activities: both are counted in warnings.
  void join(RankImport& import);

 private:
  struct Issue {
    trace::CollectiveIssue event;
    std::uint32_t group = kNone;
  };
  // Issues that one launch carries out, or one call of the program several.
  struct Batch {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::vector<Issue> issues;
    std::vector<LaunchedKernel> kernels;
    Reporter reporter = Reporter::library;
  };
  using Batches = std::vector<Batch>;  // of one thread, by begin

  void sort();
  void drop_the_frameworks();
  void warn(std::size_t joined, RankImport& import) const;
  void join_thread(Batches& batches, const std::vector<LaunchedKernel>& kernels, const RankImport& import);
  static bool may_carry_out(const LaunchedKernel& kernel, const Batch& batch, const RankImport& import);
  static void describe(Batch& batch, RankImport& import);
  static void describe(const LaunchedKernel& kernel, const std::vector<Issue>& issues, RankImport& import);
  static void describe_point_to_point(const std::vector<Issue>& issues, std::int32_t group_size,
                                      Communication& communication);

  std::map<std::uint32_t, std::map<trace::CorrelationId, Batch>> correlated_;  // by thread
  std::map<std::uint32_t, Batches> threads_;
  std::vector<LaunchedKernel> kernels_;
  std::size_t issue_count_ = 0;  // that count: the library's, or the framework's if there are no others
  std::size_t framework_count_ = 0;
  std::size_t kernel_count_ = 0;
};

}  // namespace lockstep::analyzer::run
