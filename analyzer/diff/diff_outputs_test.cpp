#include "analyzer/diff/diff_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/diff/diff_words.h"
#include "analyzer/diff/sample_sums.h"

namespace lockstep::analyzer {
namespace {

using test::kMs;
using test::report_of;
using test::training;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunsDiff diff_of(const Report& a, const Report& b) {
  return diff_runs({run_sums(a).value()}, {run_sums(b).value()}).value();
}

test::PartsOf with_more(Cause cause, std::int64_t more_ms) {
  return [=](std::int32_t rank, std::int64_t step) {
    Partition parts = training()(rank, step);
    parts[cause] += more_ms * kMs;
    return parts;
  };
}

TEST(DiffHeadline, NamesTheRank) {
  const Report healthy = report_of("a", 4, 20, training());
  EXPECT_EQ(
      headline(diff_of(healthy, report_of("b", 4, 20, training(2, 20)))),
      "B's steps take 120 ms, A's 100 ms: +20.0 ms (+20.0 %). Rank 2 differs most: host-bound +20.0 ms, "
      "and the others wait for it.");
  EXPECT_EQ(
      headline(diff_of(report_of("b", 2, 20, training(1, 20)), report_of("a", 2, 20, training()))),
      "B's steps take 100 ms, A's 120 ms: −20.0 ms (−16.7 %). Rank 1 differs most: host-bound −20.0 ms, "
      "and the other waits less for it.");
}

TEST(DiffHeadline, NamesTheCause) {
  const Report healthy = report_of("a", 4, 20, training());
  EXPECT_EQ(headline(diff_of(healthy, report_of("b", 4, 20, with_more(Cause::transfer, 15)))),
            "B's steps take 115 ms, A's 100 ms: +15.0 ms (+15.0 %), above all transfer +15.0 ms.");
  // What got faster by less does not hide it.
  EXPECT_THAT(headline(diff_of(healthy, report_of("b", 4, 20,
                                                  [](auto rank, auto step) {
                                                    Partition parts =
                                                        with_more(Cause::transfer, -10)(rank, step);
                                                    parts[Cause::data_wait] += 8 * kMs;
                                                    return parts;
                                                  }))),
              HasSubstr("−2.00 ms (−2.0 %), above all transfer −10.0 ms."));
}

TEST(DiffHeadline, SaysThatNothingShows) {
  const Report healthy = report_of("a", 4, 20, training());
  EXPECT_THAT(
      headline(diff_of(healthy, report_of("b", 4, 20, training()))),
      AllOf(
          StartsWith("No difference shows. B's steps take 100 ms, A's 100 ms: 0, within what steps vary by"),
          Not(HasSubstr("Beyond chance"))));
  const Report other = report_of("b", 4, 20, [](auto rank, auto step) {
    Partition parts = with_more(Cause::transfer, 10)(rank, step);
    parts[Cause::compute] -= 10 * kMs;
    return parts;
  });
  EXPECT_THAT(headline(diff_of(healthy, other)),
              HasSubstr("Beyond chance are parts of it: compute −10.0 ms, transfer +10.0 ms."));
  EXPECT_THAT(headline(diff_of(report_of("a", 2, 3, training()), report_of("b", 2, 3, training(1, 50)))),
              HasSubstr("Too few steps to tell whether that is chance."));
}

TEST(DiffHeadline, OfSetsIsSure) {
  const auto run = [](const char* path, const test::PartsOf& parts) {
    return run_sums(report_of(path, 4, 20, parts)).value();
  };
  const RunsDiff sure =
      diff_runs({run("a", training()), run("b", training()), run("c", training())},
                {run("d", training(2, 20)), run("e", training(2, 21)), run("f", training(2, 19))})
          .value();
  EXPECT_THAT(headline(sure), HasSubstr("Rank 2 is the difference: host-bound +20.0 ms"));
  // Runs that differ by as much anyway hide what may be there.
  const RunsDiff unsure =
      diff_runs({run("a", training()), run("b", with_more(Cause::compute, 40))},
                {run("c", with_more(Cause::compute, 20)), run("d", with_more(Cause::compute, 60))})
          .value();
  EXPECT_THAT(headline(unsure), StartsWith("These runs do not tell. B's steps take"));
}

TEST(DiffHeadline, SaysWhatBrokeOffAndWhatIsBesideTheSteps) {
  Report a = report_of("a", 2, 20, training()), b = report_of("b", 2, 20, training());
  for (Report* report : {&a, &b}) {
    report->account.ranks.resize(2);
    report->account.spent[Spending::steady] = 4000 * kMs;
  }
  b.account.spent[Spending::checkpoint] = 800 * kMs;
  EXPECT_THAT(headline(diff_of(a, b)), HasSubstr(" Beside the steps: checkpoint +400 ms of the run."));
  b.warnings.push_back({"file_damaged", "it has no footer", 1});
  EXPECT_THAT(headline(diff_of(a, b)),
              StartsWith("B is no whole run (b: files are damaged, or were not finished"));
}

TEST(DiffText, HasTheTablesThatThereIsSomethingFor) {
  Report a = report_of("before", 4, 20, training()), b = report_of("after\x1b[2J", 4, 20, training(2, 20));
  for (Report* report : {&a, &b}) {
    BucketReport bucket;
    bucket.group_name = "dp";
    bucket.operation = Operation::all_reduce;
    bucket.name = report == &a ? "layer 1" : "layer 2";
    bucket.count = 20;
    bucket.bytes = 25'000'000;
    bucket.exposed_transfer_ns = 400 * kMs;
    report->buckets.push_back(bucket);
  }
  const std::string text =
      to_text(diff_of(a, b), {{"--cap", "25", "1"}, {"NCCL_ALGO", "", "Ring"}}, {.page = {.width = 120}});
  EXPECT_THAT(text,
              AllOf(HasSubstr("Rank 2 differs most"), HasSubstr("One run a side"), HasSubstr("by cause"),
                    HasSubstr("barrier wait"), HasSubstr("by rank"), HasSubstr("by collective"),
                    HasSubstr("1 new, 1 gone"), HasSubstr("all_reduce \"layer 2\"")));
  EXPECT_THAT(text, AllOf(HasSubstr("what else differs"), HasSubstr("--cap"), HasSubstr("NCCL_ALGO")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("by layer")), Not(HasSubstr("\x1b"))));
  for (const auto& line : {"by process group", "of the run"}) EXPECT_THAT(text, Not(HasSubstr(line)));
  const std::string ascii = to_text(diff_of(a, b), {}, {.page = {.width = 60, .ascii = true}, .rows = 1});
  EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return static_cast<unsigned char>(c) < 128; }))
      << ascii;
  EXPECT_THAT(ascii, HasSubstr("3 more: --rows all"));
}

TEST(DiffJson, SumsAsItsFiguresDo) {
  const nlohmann::ordered_json json = to_json(
      diff_of(report_of("a", 3, 20, training()), report_of("b", 3, 20, training(2, 20))), {{"x", "1", "2"}});
  EXPECT_EQ(json.at("schema"), "lockstep.diff/1");
  EXPECT_EQ(json.at("changed_ranks"), nlohmann::ordered_json::array({2}));
  EXPECT_EQ(json.at("their_cause"), "host_bound");
  std::int64_t causes = 0, ranks = 0;
  for (const auto& cause : json.at("causes")) causes += cause.at("change_ns").get<std::int64_t>();
  for (const auto& rank : json.at("ranks")) ranks += rank.at("part").at("change_ns").get<std::int64_t>();
  EXPECT_EQ(causes, json.at("step").at("change_ns"));
  EXPECT_EQ(ranks, json.at("step").at("change_ns"));
  EXPECT_EQ(json.at("suspects").at(0).at("b"), "2");
}

}  // namespace
}  // namespace lockstep::analyzer
