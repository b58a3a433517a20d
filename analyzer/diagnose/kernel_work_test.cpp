// What ranks have to compute, told by their kernels.
#include "analyzer/diagnose/kernel_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "analyzer/diagnose/cell_statistics.h"
#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::Not;

struct Kernel {
  std::uint32_t warps = 0;
  double takes_us = 0;
  const char* name = "gemm";
};
using Kernels = std::vector<Kernel>;

// Ranks on GPUs: what each launches in each step. All meet at the end of a step.
Job job_of(int ranks, int steps, const std::function<Kernels(int rank, int step)>& kernels) {
  constexpr Nanoseconds kStep = 4000 * us;
  JobBuilder job;
  for (int step = 0; step < steps; ++step) {
    const Nanoseconds begin = step * kStep;
    std::vector<Nanoseconds> ends;
    for (int rank = 0; rank < ranks; ++rank) {
      job.rank(rank).step(step, begin, begin + kStep - 100 * us);
      Nanoseconds now = begin;
      for (const Kernel& kernel : kernels(rank, step)) {
        const Nanoseconds end = now + std::llround(kernel.takes_us * 1000);
        job.rank(rank)
            .compute(now, end, kernel.name)
            .shaped(kernel.warps, kernel.warps)
            .launched(begin, begin + 1);
        job.rank(rank).in_step(static_cast<std::uint32_t>(step));
        now = end;
      }
      ends.push_back(now);
    }
    const Nanoseconds last = *std::max_element(ends.begin(), ends.end());
    for (int rank = 0; rank < ranks; ++rank)
      job.rank(rank)
          .all_reduce(ends[static_cast<std::size_t>(rank)], last + 50 * us)
          .launched(begin + 1, begin + 2);
  }
  Job built = job.build();
  for (RankTrace& rank : built.ranks) rank.device = "cuda:0";
  return built;
}

std::vector<double> amount_of(const Job& job, KernelMeasure measure = KernelMeasure::launch_size) {
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  const auto work = KernelWork::read(job, table, measure);
  return work ? work->amount() : std::vector<double>();
}

// The same on each call for the same arguments: about 1, by `spread`.
double noise(int rank, int step, double spread, int what = 0) {
  std::mt19937 random(static_cast<unsigned>(7919 * what + 104729 * rank + 31 * step + 1));
  random.discard(3);
  return std::exp(spread * std::normal_distribution<double>()(random));
}

TEST(KernelWork, IsTheWarpsThatEachLaunchesAtThePaceOfAll) {
  // A warp of `gemm` takes 2 µs in the mean of all, one of `norm` 1 µs; that rank 1 is slower does not
  // matter.
  const Job job = job_of(2, 2, [](int rank, int step) {
    const double pace = rank == 0 ? 0.5 : 1.5;
    const std::uint32_t size = rank == step ? 100 : 200;
    return Kernels{{size, 2 * pace * size}, {10, 10 * pace, "norm"}};
  });
  EXPECT_THAT(amount_of(job), ElementsAre(210e3, 410e3, 410e3, 210e3));
  EXPECT_THAT(amount_of(job, KernelMeasure::number), ElementsAre(2, 2, 2, 2));
}

TEST(KernelWork, IsNotKnownOfKernelsThatHalfOfTheRanksRunOrThatHaveNoSize) {
  const Job other_gpu = job_of(4, 3, [](int rank, int) {
    return Kernels{{100, 200, rank == 3 ? "volta_gemm" : "hopper_gemm"}, {10, 10, "norm"}};
  });
  EXPECT_THAT(amount_of(other_gpu), Contains(IsNan()).Times(3));
  EXPECT_THAT(amount_of(other_gpu, KernelMeasure::number), Contains(IsNan()).Times(3));
  const auto halves = [](int rank, int) {
    return Kernels{{100, 200, rank >= 2 ? "volta_gemm" : "hopper_gemm"}};
  };
  EXPECT_THAT(amount_of(job_of(4, 3, halves)), testing::IsEmpty());
  const Job sizeless = job_of(2, 3, [](int, int) { return Kernels{{0, 200}}; });
  EXPECT_THAT(amount_of(sizeless), testing::IsEmpty());
  EXPECT_THAT(amount_of(sizeless, KernelMeasure::number), ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST(KernelWork, NumbersDoNotDifferWhereSomeSizesAreNotKnown) {
  const Job job = job_of(2, 4, [](int rank, int) { return Kernels{{rank == 0 ? 100U : 0U, 200}}; });
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  EXPECT_FALSE(KernelWork::read(job, table, KernelMeasure::launch_size).has_value());
  const auto numbers = KernelWork::read(job, table, KernelMeasure::number);
  ASSERT_TRUE(numbers.has_value());
  EXPECT_FALSE(numbers->differs());
}

TEST(KernelWork, IsNotAskedForOnCpus) {
  Job job = job_of(2, 2, [](int, int) { return Kernels{{100, 200}}; });
  ASSERT_THAT(amount_of(job), Not(testing::IsEmpty()));
  for (RankTrace& rank : job.ranks) rank.device = "cpu";
  EXPECT_THAT(amount_of(job), testing::IsEmpty());
  EXPECT_THAT(amount_of(job, KernelMeasure::number), testing::IsEmpty());
}

TEST(KernelWork, CountsTheStepsInWhichARankLaunchesWhatMostOthersDo) {
  const Job job = job_of(4, 10, [](int rank, int step) {
    return Kernels{{rank == 1 && step < 3 ? 120U : 100U, 200}, {rank == 2 ? 50U : 40U, 10, "norm"}};
  });
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  const auto work = KernelWork::read(job, table, KernelMeasure::launch_size);
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->steps_alike(0), 7u);
  EXPECT_EQ(work->steps_alike(1), 7u);
  EXPECT_EQ(work->steps_alike(2), 0u);
  EXPECT_TRUE(work->differs());
}

TEST(KernelWork, NamesWhereRanksDiffer) {
  const Job job = job_of(2, 12, [](int rank, int step) {
    const std::uint32_t tokens = (rank + step) % 2 == 0 ? 100 : 200;
    return Kernels{{50, 100}, {tokens, 2.0 * tokens, "grouped_gemm"}, {tokens, 0.5 * tokens, "scatter"}};
  });
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  const auto differences = KernelWork::read(job, table, KernelMeasure::launch_size)->differences();
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(job.strings.view(differences[0].name), "grouped_gemm");
  EXPECT_NEAR(differences[0].part, 0.8, 1e-9);
  EXPECT_NEAR(differences[1].part, 0.2, 1e-9);
  EXPECT_NEAR(differences[2].part, 0, 1e-9);
}

// ---- what findings make of it
// -------------------------------------------------------------------------------

std::string late_reason(const Report& report) {
  return finding(report, "straggler_persistent").reason;
}

// Lengths of which hardly any two are equal, as of documents: no rank launches what another one did.
TEST(KernelWork, TellsLengthsOfWhichNoneIsTheSame) {
  const Report report = report_of(job_of(4, 50, [](int rank, int step) {
    const auto length = static_cast<std::uint32_t>(1000 * noise(rank, step, 0.3));
    const double pace = noise(rank, step, 0.02, 1);
    return Kernels{{length, length * pace}, {length / 4, length / 4 * pace, "norm"}, {64, 20, "optimizer"}};
  }));
  const Finding found = finding(report, "uneven_batches");
  EXPECT_THAT(found.title, HasSubstr("work is uneven"));
  EXPECT_THAT(found.evidence.at(0),
              HasSubstr("follows the number and the launch sizes of kernels: correlation 1.00"));
  EXPECT_THAT(found.evidence.back(), AllOf(HasSubstr("`gemm` (80 %)"), HasSubstr("`norm` (20 %)")));
  EXPECT_THAT(found.remedy, Not(HasSubstr("expert")));
}

// The same sizes everywhere, and times that vary.
TEST(KernelWork, JitterIsNotWork) {
  const Report report = report_of(job_of(2, 50, [](int rank, int step) {
    Kernels kernels{{1000, 1000 * noise(rank, step, 0.2)}};
    // An evaluation in two steps of fifty, of many small kernels.
    if (rank == 0 && (step == 20 || step == 40)) kernels.insert(kernels.end(), 9, Kernel{500, 150, "norm"});
    kernels.push_back({10, 10, "norm"});
    return kernels;
  }));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("uneven_batches")));
}

TEST(KernelWork, TellsMoreWorkFromASlowRank) {
  for (const bool more : {true, false}) {
    const Report report = report_of(job_of(4, 60, [more](int rank, int step) {
      const double times = rank == 2 ? 1.3 : 1;
      const auto size = [&](double warps) {
        return static_cast<std::uint32_t>(more ? warps * times : warps);
      };
      const double pace = times * noise(rank, step, 0.01);
      return Kernels{{size(1000), 1000 * pace}, {size(300), 300 * pace, "norm"}};
    }));
    EXPECT_EQ(late_reason(report), more ? "more_work" : "computes_longer");
    const Finding late = finding(report, "straggler_persistent");
    if (more)
      EXPECT_THAT(late.evidence, Contains(HasSubstr("its work is 1.30 times the others'")));
    else
      EXPECT_THAT(late.evidence,
                  Contains(HasSubstr("in 60 of 60 steps it launches the same kernels in the same sizes")));
    EXPECT_THAT(late.remedy,
                more ? HasSubstr("balance the work") : HasSubstr("see what else runs on its GPU"));
  }
}

// Ranks of a tensor-parallel pair share their batches, and their host's pace.
TEST(KernelWork, OfASlowHostsRanksIsNotMore) {
  const Report report = report_of(job_of(4, 60, [](int rank, int step) {
    const auto length = static_cast<std::uint32_t>(1000 * noise(rank / 2, step, 0.02));
    return Kernels{{length, length * (rank >= 2 ? 1.3 : 1) * noise(rank, step, 0.005, 1)}};
  }));
  for (const Finding& found : report.findings) EXPECT_NE(found.reason, "more_work") << found.title;
  EXPECT_THAT(codes_of(report.findings), Not(Contains("uneven_batches")));
}

// Two of eight ranks have an older GPU, for which the library chooses other kernels; or one's are tuned
// otherwise: twice the blocks of half the size, or one kernel's blocks half as wide.
TEST(KernelWork, OfOtherKernelsIsNotMore) {
  const auto older = [](int rank, int step) {
    const double pace = noise(rank, step, 0.01);
    return rank >= 6 ? Kernels{{1000, 1200 * pace, "volta_gemm"}, {60, 60, "norm"}}
                     : Kernels{{1000, 1000 * pace, "hopper_gemm"}, {60, 60, "norm"}};
  };
  const auto tuned = [](int rank, int step) {
    const double pace = noise(rank, step, 0.01);
    return rank == 3 ? Kernels{{1000, 1000 * pace}, {600, 500 * pace, "fused_norm"}}
                     : Kernels{{1000, 1000 * pace}, {300, 300 * pace, "fused_norm"}};
  };
  for (const auto& kernels :
       {std::function<Kernels(int, int)>(older), std::function<Kernels(int, int)>(tuned)}) {
    const Report report = report_of(job_of(8, 60, kernels));
    for (const Finding& found : report.findings) EXPECT_NE(found.reason, "more_work") << found.title;
    EXPECT_THAT(codes_of(report.findings), Not(Contains("uneven_batches")));
  }
}

// All work the same amount in the mean, and one is slow: 1.2 times as long.
TEST(KernelWork, OfLengthsThatVaryIsNotMoreOnASlowRank) {
  for (const int ranks : {2, 3}) {
    const Report report = report_of(job_of(ranks, 60, [](int rank, int step) {
      const auto length = static_cast<std::uint32_t>(1000 * noise(rank, step, 0.035));
      return Kernels{{length, length * (rank == 1 ? 1.2 : 1)}};
    }));
    EXPECT_EQ(late_reason(report), "computes_longer");
  }
}

// Too much varies for anybody to be late; one takes longer for as much all the same.
TEST(KernelWork, UnevenWorkDoesNotHideASlowRankFromItsEvidence) {
  for (const bool is_slow : {false, true}) {
    const Report report = report_of(job_of(4, 60, [is_slow](int rank, int step) {
      const auto length = static_cast<std::uint32_t>(1000 * noise(rank, step, 0.3));
      return Kernels{{length, length * noise(rank, step, 0.02, 1) * (is_slow && rank == 2 ? 1.2 : 1)}};
    }));
    const Finding uneven = finding(report, "uneven_batches");
    const auto line = HasSubstr("rank 2 also takes 1.2");
    EXPECT_THAT(uneven.evidence, is_slow ? testing::Matcher<std::vector<std::string>>(Contains(line))
                                         : Not(Contains(HasSubstr("for as much work"))));
  }
}

// A matrix product in two parts: its own kernel takes longer, and a small one adds up.
// Kernels that take a fixed time besides: a rank with half as much to do takes longer for each warp.
TEST(KernelWork, ARankWithLessToDoIsNotSlow) {
  const Report report = report_of(job_of(4, 60, [](int rank, int step) {
    const double usual = rank == 3 ? 500 : 1000;
    const auto length = static_cast<std::uint32_t>(usual * noise(rank, step, 0.3));
    return Kernels{{length, 400 + 0.6 * length}};
  }));
  for (const Finding& one : report.findings)
    for (const std::string& line : one.evidence)
      EXPECT_THAT(line, Not(HasSubstr("for as much work"))) << one.code;
}

// Two kernels in place of one, of which the first is slower than that: nothing is added to what others run.
TEST(KernelWork, OfTwoKernelsInPlaceOfOneIsNotMore) {
  const Report report = report_of(job_of(4, 60, [](int rank, int step) {
    const double pace = noise(rank, step, 0.01);
    if (rank == 2) return Kernels{{1000, 1200 * pace, "gemm_in_parts"}, {100, 100, "sum_of_parts"}};
    return Kernels{{1000, 1000 * pace}};
  }));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.reason, "computes_longer") << late.title;
}

TEST(KernelWork, OfASmallKernelBehindASlowerOneIsNotMore) {
  const Report report = report_of(job_of(4, 60, [](int rank, int step) {
    const double pace = noise(rank, step, 0.01);
    Kernels kernels{{1000, 1000 * pace * (rank == 2 ? 1.2 : 1)}};
    if (rank == 2) kernels.push_back({100, 100, "split_reduce"});
    return kernels;
  }));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.reason, "computes_longer") << late.title;
}

TEST(KernelWork, OfAKernelInPlaceOfAnotherIsNotMore) {
  for (const bool in_addition : {false, true}) {
    const Report report = report_of(job_of(4, 60, [in_addition](int rank, int step) {
      const double pace = noise(rank, step, 0.01);
      Kernels kernels{{1000, 1000 * pace, rank == 2 && !in_addition ? "split_gemm" : "gemm"}};
      if (rank == 2 && !in_addition) kernels[0].takes_us *= 1.3;
      if (rank == 2 && in_addition) kernels.push_back({300, 300, "auxiliary_loss"});
      return kernels;
    }));
    const Finding late = finding(report, "straggler_persistent");
    EXPECT_EQ(late.reason, in_addition ? "other_kernels" : "computes_longer");
    if (in_addition) {
      EXPECT_THAT(
          late.title,
          HasSubstr("also runs `auxiliary_loss`, which the others do not, and computes 29.9 % longer"));
      EXPECT_THAT(late.remedy, HasSubstr("another algorithm"));
      for (const std::string& line : late.evidence) EXPECT_THAT(line, Not(HasSubstr("the same kernels")));
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer
