// analyze() against the brute-force oracle on random tiny jobs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/analysis_oracle.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

constexpr int kEnd = 160;

class RandomJob {
 public:
  RandomJob(unsigned seed, bool pipeline) : random_(seed), pipeline_(pipeline) {
    ranks_ = 2 + below(3);
    passes_ = below(3) != 0;
    steps_ = below(2) == 0;
    std::vector<std::int32_t> all;
    for (int rank = 0; rank < ranks_; ++rank) all.push_back(rank);
    world_ = builder_.group("world", all, pipeline ? "pp" : "dp");
    for (int rank = 0; rank < ranks_; ++rank) add_rank(rank);
    const int count = below(8);
    for (int number = 0; number < count; ++number) add_collective(number);
    const int pairs = below(4);
    for (int pair = 0; pair < pairs; ++pair) add_pair();
    job_ = builder_.build();
    find_operations();
  }

  Job job_;
  std::vector<oracle::Together> operations_;  // those that are possible

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  void maybe_launch(RankBuilder& rank) {
    if (below(4) == 0) return;
    const Activity& activity = rank.trace().activities.back();
    // Now and then the call returns after the activity began.
    const int begin = static_cast<int>(activity.begin) - below(30);
    rank.launched(begin, begin + below(20));
  }

  void add_rank(int number) {
    RankBuilder& rank = builder_.rank(number);
    const int count = below(14);
    for (int i = 0; i < count; ++i) {
      const int begin = below(kEnd), end = begin + below(4) * below(5);
      switch (below(8)) {
        case 0:
          rank.copy(begin, end);
          break;
        case 1:
          rank.sync(begin, end);
          break;
        case 2:
          rank.unclassified(begin, end);
          break;
        default:
          rank.compute(begin, end);
          if (pipeline_ && passes_ && below(2) == 0)
            rank.part_of(static_cast<Pass>(below(5)), below(4) - 1, below(3) - 1);
          break;
      }
      maybe_launch(rank);
    }
    // Often on every rank of a step, so that regions of passes are common.
    for (int i = pipeline_ && passes_ ? 3 : 0; i > 0; --i) {
      const int begin = below(kEnd), end = begin + below(20);
      rank.compute(begin, end).part_of(below(2) == 0 ? Pass::forward : Pass::backward, below(4), below(3));
      maybe_launch(rank);
    }
    for (int i = below(3); i > 0; --i) {
      const int begin = below(kEnd);
      rank.data_loading(begin, begin + below(30));
    }
    if (pipeline_ && !steps_) return;
    int step_begin = below(30);
    for (int step = below(4); step > 0; --step) {
      const int step_end = step_begin + below(60);
      rank.step(10 - step, step_begin, step_end);
      step_begin = step_end + 1 + below(10);
    }
  }

  void add_collective(int number) {
    constexpr Operation kKinds[] = {Operation::all_reduce, Operation::all_gather, Operation::barrier,
                                    Operation::broadcast,  Operation::scatter,    Operation::reduce,
                                    Operation::gather,     Operation::all_to_all};
    const Operation kind = kKinds[below(8)];
    const int root = below(ranks_ + 1) - 1;  // −1: unknown
    const int around = below(kEnd);
    for (int rank = 0; rank < ranks_; ++rank) {
      if (below(8) == 0) continue;
      const int begin = around + below(24);
      builder_.rank(rank).collective(kind, begin, begin + below(40)).in_group(world_).sequence(number);
      if (kind == Operation::broadcast || kind == Operation::scatter || kind == Operation::reduce ||
          kind == Operation::gather) {
        builder_.rank(rank).root(root);
      }
      maybe_launch(builder_.rank(rank));
    }
  }

  void add_pair() {
    const int from = below(ranks_);
    const int to = (from + 1 + below(ranks_ - 1)) % ranks_;
    const int around = below(kEnd);
    const int begin = around + below(10);
    builder_.rank(from).send(to, begin, begin + below(30)).in_group(world_);
    maybe_launch(builder_.rank(from));
    const int other = around + below(10);
    builder_.rank(to).recv(from, other, other + below(30)).in_group(world_);
    maybe_launch(builder_.rank(to));
  }

  // Who belongs together, straight from the numbers and, for pairs, from the order of the sorted columns.
  void find_operations() {
    std::map<std::int64_t, oracle::Together> by_number;
    std::map<std::tuple<int, int, int>, oracle::Together> pairs;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      std::map<std::pair<int, int>, int> order;
      const std::vector<Communication>& communications = job_.ranks[rank].communications;
      for (std::size_t index = 0; index < communications.size(); ++index) {
        const Communication& c = communications[index];
        if (c.sequence != kNoSequence) {
          oracle::Together& operation = by_number[c.sequence];
          operation.operation = c.operation;
          operation.root = c.peer;
          operation.members.emplace_back(rank, index);
          continue;
        }
        const int own = static_cast<int>(rank);
        const auto direction =
            c.operation == Operation::send ? std::pair(own, c.peer) : std::pair(c.peer, own);
        oracle::Together& operation = pairs[{direction.first, direction.second, order[direction]++}];
        operation.operation = Operation::send_recv;
        operation.point_to_point = true;
        operation.pipeline = pipeline_;
        operation.members.emplace_back(rank, index);
      }
    }
    for (auto& [number, operation] : by_number) operations_.push_back(operation);
    for (auto& [number, operation] : pairs) operations_.push_back(operation);
    std::erase_if(operations_,
                  [this](const oracle::Together& operation) { return !oracle::possible(job_, operation); });
  }

  std::mt19937 random_;
  bool pipeline_;
  bool passes_ = false, steps_ = false;  // of a pipeline
  int ranks_ = 0;
  std::uint32_t world_ = 0;
  JobBuilder builder_;
};

void expect_equal(const Measures& measures, const oracle::WindowAnswer& expected, oracle::Window window) {
  EXPECT_EQ(measures.window_ns, window.end - window.begin);
  EXPECT_EQ(measures.partition.ns, expected.causes);
  EXPECT_EQ(measures.partition.total(), measures.window_ns);
  EXPECT_EQ(measures.compute_ns, expected.compute);
  EXPECT_EQ(measures.communication_ns, expected.communication);
  EXPECT_EQ(measures.overlap_ns, expected.overlap);
  EXPECT_EQ(measures.exposed_communication_ns, expected.communication - expected.overlap);
  EXPECT_EQ(measures.unclassified_ns, expected.unclassified);
  EXPECT_EQ(measures.collective_wait_ns, expected.barrier_wait);
  EXPECT_EQ(measures.hidden_collective_wait_ns, expected.hidden_barrier_wait);
  EXPECT_EQ(measures.p2p_wait_ns, expected.p2p_wait);
  EXPECT_EQ(measures.hidden_p2p_wait_ns, expected.hidden_p2p_wait);
  EXPECT_EQ(measures.overlap_ratio.has_value(), expected.communication > 0);
  EXPECT_EQ(measures.overlap_ratio_per_kernel.has_value(), expected.kernels > 0);
  if (expected.kernels > 0) {
    EXPECT_DOUBLE_EQ(*measures.overlap_ratio_per_kernel, expected.kernels_covered / expected.kernels);
  }
}

class AnalysisProperties : public testing::TestWithParam<unsigned> {
 protected:
  // One job per seed and round; every third has a pipeline.
  template <class Check>
  void for_each_job(Check check) {
    for (unsigned round = 0; round < 60; ++round) {
      const unsigned seed = GetParam() * 1000 + round;
      SCOPED_TRACE(seed);
      const RandomJob random(seed, seed % 3 == 0);
      const Analysis analysis = checked_analysis(random.job_);
      if (!HasFailure()) check(random, analysis);
      if (HasFailure()) return;
    }
  }
};

TEST_P(AnalysisProperties, WindowsAndTheirMeasures) {
  for_each_job([](const RandomJob& random, const Analysis& analysis) {
    std::size_t steps = 0;
    for (std::size_t rank = 0; rank < random.job_.ranks.size(); ++rank) {
      SCOPED_TRACE(rank);
      const RankTrace& trace = random.job_.ranks[rank];
      const oracle::Window whole = oracle::whole_window(trace).value_or(oracle::Window{});
      expect_equal(analysis.report.ranks[rank].measures,
                   oracle::answer(random.job_, rank, random.operations_, whole), whole);
      const std::vector<oracle::Window> windows = oracle::step_windows(trace);
      steps += windows.size();
      for (std::size_t k = 0; k < windows.size(); ++k) {
        SCOPED_TRACE(k);
        const auto found = std::find_if(
            analysis.report.steps.begin(), analysis.report.steps.end(), [&](const StepReport& step) {
              return step.rank == trace.rank && step.step == trace.steps[k].number;
            });
        ASSERT_NE(found, analysis.report.steps.end());
        EXPECT_EQ(found->begin_ns, windows[k].begin - analysis.report.origin_aligned_ns);
        EXPECT_EQ(found->end_ns, windows[k].end - analysis.report.origin_aligned_ns);
        expect_equal(found->measures, oracle::answer(random.job_, rank, random.operations_, windows[k]),
                     windows[k]);
      }
    }
    EXPECT_EQ(analysis.report.steps.size(), steps);
  });
}

TEST_P(AnalysisProperties, SegmentsAreTheCauseOfEachInstant) {
  for_each_job([](const RandomJob& random, const Analysis& analysis) {
    for (std::size_t rank = 0; rank < random.job_.ranks.size(); ++rank) {
      const oracle::Window whole = oracle::whole_window(random.job_.ranks[rank]).value_or(oracle::Window{});
      std::int64_t now = whole.begin;
      for (const CauseSegment& segment : analysis.segments[rank]) {
        ASSERT_EQ(segment.begin, now);
        ASSERT_LT(segment.begin, segment.end);
        for (; now < segment.end; ++now) {
          ASSERT_EQ(static_cast<int>(segment.cause),
                    oracle::cause_at(random.job_, rank, random.operations_, now))
              << "rank " << rank << " at " << now;
        }
      }
      EXPECT_EQ(now, whole.end);
    }
  });
}

TEST_P(AnalysisProperties, WaitsArriversAndBlame) {
  for_each_job([](const RandomJob& random, const Analysis& analysis) {
    std::map<std::int32_t, std::int64_t> blame;
    std::size_t members = 0;
    for (const oracle::Together& operation : random.operations_) {
      const oracle::OperationAnswer expected = oracle::answer(random.job_, operation);
      members += operation.members.size();
      const auto [rank0, communication0] = operation.members.front();
      const std::uint32_t index = analysis.collective_of[rank0][communication0];
      ASSERT_LT(index, analysis.report.collectives.size());
      const CollectiveReport& collective = analysis.report.collectives[index];
      ASSERT_EQ(collective.ranks.size(), operation.members.size());
      EXPECT_EQ(collective.operation, operation.operation);
      for (std::size_t i = 0; i < operation.members.size(); ++i) {
        EXPECT_EQ(collective.ranks[i].rank, random.job_.ranks[operation.members[i].first].rank);
        EXPECT_EQ(collective.ranks[i].wait_ns, expected.wait[i]);
        EXPECT_EQ(collective.ranks[i].transfer_ns, expected.transfer[i]);
        EXPECT_EQ(collective.ranks[i].hidden_ns, expected.hidden[i]);
        if (expected.last_arriver && collective.ranks[i].rank != *expected.last_arriver) {
          blame[*expected.last_arriver] += expected.wait[i];
        }
      }
      EXPECT_EQ(collective.last_arriver, expected.last_arriver);
      EXPECT_EQ(collective.last_arriver_margin_ns,
                expected.last_arriver ? std::optional(expected.margin) : std::nullopt);
      EXPECT_EQ(collective.partial,
                operation.members.size() < (operation.point_to_point ? 2 : random.job_.ranks.size()));
    }
    std::size_t records = 0;
    for (const RankTrace& rank : random.job_.ranks) records += rank.communications.size();
    EXPECT_EQ(analysis.report.unmatched, static_cast<std::int64_t>(records - members));
    std::erase_if(blame, [](const auto& entry) { return entry.second == 0; });
    ASSERT_EQ(analysis.report.blame.size(), blame.size());
    for (std::size_t i = 0; i < analysis.report.blame.size(); ++i) {
      EXPECT_EQ(analysis.report.blame[i].blame_ns, blame[analysis.report.blame[i].rank]);
      if (i > 0) {
        EXPECT_GE(analysis.report.blame[i - 1].blame_ns, analysis.report.blame[i].blame_ns);
      }
    }
  });
}

TEST_P(AnalysisProperties, PipelinesAndTheirBubbles) {
  for_each_job([](const RandomJob& random, const Analysis& analysis) {
    auto regions = oracle::pipeline_regions(random.job_);
    std::erase_if(regions, [](const auto& entry) { return entry.second.begin >= entry.second.end; });
    ASSERT_EQ(analysis.report.pipeline.size(), regions.empty() ? 0u : 1u);
    if (regions.empty()) return;
    const PipelineReport& pipeline = analysis.report.pipeline[0];
    std::int64_t length = 0, sum = 0;
    for (const auto& [step, region] : regions) length += region.end - region.begin;
    EXPECT_EQ(pipeline.region_ns, length);
    EXPECT_EQ(pipeline.steps, static_cast<std::int64_t>(regions.size()));
    EXPECT_EQ(pipeline.bubble_ns, oracle::pipeline_bubble(random.job_, random.operations_));
    const auto stages = static_cast<std::int64_t>(random.job_.ranks.size());
    EXPECT_DOUBLE_EQ(pipeline.bubble_ratio.value_or(-1),
                     static_cast<double>(pipeline.bubble_ns) / static_cast<double>(stages * length));
    for (const PipelineStage& stage : pipeline.stages_detail) {
      EXPECT_EQ(stage.compute_ns + stage.exposed_transfer_ns + stage.bubble_ns, length);
      EXPECT_EQ(stage.warm_up_ns.has_value(), pipeline.passes_known);
      if (stage.warm_up_ns) {
        EXPECT_EQ(*stage.warm_up_ns + *stage.steady_ns + *stage.cool_down_ns, stage.bubble_ns);
      }
      sum += stage.bubble_ns;
    }
    EXPECT_EQ(sum, pipeline.bubble_ns);
  });
}

// Beyond the first and the last activity of a rank there is nothing to measure.
oracle::Window recorded_within(const RankTrace& rank, oracle::Window window) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(),
               last = std::numeric_limits<std::int64_t>::min();
  for (const Activity& activity : rank.activities) {
    if (activity.activity_class == Class::sync) continue;
    first = std::min(first, activity.begin);
    last = std::max(last, activity.end);
  }
  if (first > last) return {window.begin, window.begin};
  window.begin = std::max(window.begin, first);
  window.end = std::max(window.begin, std::min(window.end, last));
  return window;
}

// The viewer's question: any range, asked of a timeline that is built once.
TEST_P(AnalysisProperties, AnyRangeOfATimeline) {
  for_each_job([this](const RandomJob& random, const Analysis& analysis) {
    std::mt19937 numbers(GetParam());
    for (std::size_t rank = 0; rank < random.job_.ranks.size(); ++rank) {
      const RankTimeline timeline = timeline_of(random.job_, analysis, rank);
      const auto begin = static_cast<std::int64_t>(numbers() % 200) - 20;
      const oracle::Window asked{begin, begin + static_cast<std::int64_t>(numbers() % 100)};
      const oracle::Window window = recorded_within(random.job_.ranks[rank], asked);
      expect_equal(measures_of(timeline, asked.begin, asked.end),
                   oracle::answer(random.job_, rank, random.operations_, window), window);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnalysisProperties, testing::Range(1u, 13u));

}  // namespace
}  // namespace lockstep::analyzer
