// Where a rank computes longer: the sentence and the table of a finding, from a whole job.
#include "analyzer/diagnose/slow_part_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Nanoseconds kStep = 30 * ms;
constexpr int kSteps = 12;

// Two ranks launch the kernels of a model and then meet. layers.1 has a kernel of its own beside its MLP's,
// the optimizer's is of no module. Rank 1 computes for `longer` more in layers.1.mlp, and for
// `longer_beside` more in layers.0, beside what comes next.
JobBuilder job_of_modules(Nanoseconds longer, bool are_recorded = true, Nanoseconds longer_beside = 0) {
  struct Kernel {
    const char* module;
    const char* operation;
    Nanoseconds ns;
  };
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RankBuilder& builder = job.rank(rank);
    const auto range = [&](Nanoseconds begin, Nanoseconds end, const char* name, int depth, HostKind kind) {
      if (!are_recorded) return;
      builder.host_range(begin, end, name, depth);
      builder.trace().host_ranges.back().kind = kind;
    };
    for (int step = 0; step < kSteps; ++step) {
      const Nanoseconds begin = step * kStep;
      builder.step(step, begin, begin + kStep - ms);
      // On the host 10 µs each; layers.1 holds its MLP.
      range(begin + 10 * us, begin + 30 * us, "layers.1", 0, HostKind::module);
      Nanoseconds host = begin, device = begin + us;
      for (const Kernel& kernel : {Kernel{"layers.0", "aten::mm", 4 * ms}, Kernel{"", "aten::norm", ms},
                                   Kernel{"layers.1.mlp", "aten::mm", 3 * ms + (rank == 1 ? longer : 0)},
                                   Kernel{"", "aten::adam", 2 * ms}}) {
        if (*kernel.module != '\0') range(host, host + 10 * us, kernel.module, 1, HostKind::module);
        range(host, host + 10 * us, kernel.operation, 2, HostKind::operation);
        const bool is_first = kernel.module == std::string_view("layers.0");
        builder.compute(device, device + kernel.ns + (is_first && rank == 1 ? longer_beside : 0),
                        kernel.operation);
        builder.launched(host + us, host + 2 * us).in_step(static_cast<std::uint32_t>(step));
        host += 10 * us;
        device += kernel.ns;
      }
      builder.all_reduce(device, begin + 11 * ms + longer).launched(host, host + us);
    }
    // As job.h promises.
    std::vector<HostRange>& ranges = builder.trace().host_ranges;
    std::sort(ranges.begin(), ranges.end(), [](const HostRange& a, const HostRange& b) {
      return std::tie(a.begin, b.end, a.depth) < std::tie(b.begin, a.end, b.depth);
    });
  }
  return job;
}

TEST(SlowPartWords, AFindingHasTheTableOfModulesThatAddsUp) {
  const Finding late = finding(report_of(job_of_modules(3 * ms)), "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(late.title, HasSubstr("rank 1 computes 30.0 % longer, all of it in `layers.1.mlp`"));
  EXPECT_EQ(late.parts.others, 1);
  ASSERT_EQ(late.parts.steps, kSteps);
  EXPECT_THAT(late.parts.rows,
              ElementsAre(ComparedPart{"layers.1.mlp", "aten::mm", false, kSteps * 6 * ms, kSteps * 3 * ms},
                          ComparedPart{"", "", false, kSteps * 2 * ms, kSteps * 2 * ms},
                          ComparedPart{"layers.0", "", false, kSteps * 4 * ms, kSteps * 4 * ms},
                          // Without its MLP.
                          ComparedPart{"layers.1", "", false, kSteps * ms, kSteps * ms}));
  EXPECT_EQ(describe_difference(late.parts.rows[0], late.parts), "+3.00 ms (+100.0 %)");
  EXPECT_EQ(describe_difference(late.parts.rows[2], late.parts), "0");
}

// Of 4.5 ms that the parts take longer 3 are in the MLP, of which the rank computes 3 ms longer.
TEST(SlowPartWords, WhatTheTableHasElsewhereTooIsNotAllOfIt) {
  const Finding late = finding(report_of(job_of_modules(3 * ms, true, 1500 * us)), "straggler_persistent");
  ASSERT_GE(late.parts.rows.size(), 2U);
  EXPECT_EQ(late.parts.rows[0].excess_ns(), kSteps * 3 * ms);
  EXPECT_EQ(late.parts.rows[1].excess_ns(), kSteps * 1500 * us);
  EXPECT_THAT(late.title, HasSubstr("rank 1 computes 30.0 % longer, above all in `layers.1.mlp`"));
}

TEST(SlowPartWords, WhereNoModuleHoldsMostOfWhatTheTableHasNoneIsNamed) {
  const Finding late = finding(report_of(job_of_modules(3 * ms, true, 2500 * us)), "straggler_persistent");
  EXPECT_FALSE(late.parts.rows.empty());
  EXPECT_THAT(late.title, Not(HasSubstr("layers.1")));
  EXPECT_THAT(late.remedy, Not(HasSubstr("--operators"))) << "they were recorded";
}

TEST(SlowPartWords, WhereNothingIsRecordedTheFindingHasNoTable) {
  const Finding late = finding(report_of(job_of_modules(3 * ms, false)), "straggler_persistent");
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(late.parts.rows, IsEmpty());
  EXPECT_THAT(late.remedy, HasSubstr("`lockstep record --operators` says in which module"));
}

TEST(SlowPartWords, WhereNobodyComputesLongerNothingIsCompared) {
  for (const Finding& one : report_of(job_of_modules(0)).findings)
    EXPECT_THAT(one.parts.rows, IsEmpty()) << one.code;
}

// Seen of a rank with one more convolution: the table had its modules, which the other rank does not run, and
// the remedy said that the trace does not tell whether it has more to do.
TEST(PartsOfItAlone, AreThoseThatMakeUpHalfOfWhatItComputesLonger) {
  RankLateness late;
  late.cause_ns = 10;
  ComparedParts parts{.steps = 100, .others = 1};
  parts.rows = {{"adapter.conv", "aten::conv2d", false, 400, 0},
                {"adapter", "aten::relu", false, 90, 0},
                {"layers.0", "", false, 500, 480},
                {"", "", true, 3000, 3100}};
  EXPECT_EQ(parts_of_it_alone(parts, late), "") << "490 of 1000";
  parts.rows[1].own_ns = 100;
  EXPECT_EQ(parts_of_it_alone(parts, late), "`adapter.conv` and `adapter`");
  parts.rows.insert(parts.rows.begin() + 2, {"adapter.norm", "", false, 50, 0});
  EXPECT_EQ(parts_of_it_alone(parts, late), "`adapter.conv` and `adapter`");
  parts.rows[0].others_ns = 1;
  EXPECT_EQ(parts_of_it_alone(parts, late), "") << "the others have that, too";
}

TEST(PartsOfItAlone, AreNotTheSameWorkUnderOtherNames) {
  RankLateness late;
  late.cause_ns = 10;
  ComparedParts parts{.steps = 100, .others = 1};
  parts.rows = {{"module.0", "", false, 4000, 0}, {"", "", true, 499, 3000}};
  EXPECT_EQ(parts_of_it_alone(parts, late), "");
  parts.rows[1].own_ns = 1500;
  EXPECT_EQ(parts_of_it_alone(parts, late), "`module.0`");
}

}  // namespace
}  // namespace lockstep::analyzer
