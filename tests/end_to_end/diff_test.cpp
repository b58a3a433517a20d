// `lockstep diff` as it is typed: what it says first, that its parts sum, what it says of bad input.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Diff : public testing::Test {
 protected:
  // Rank 1 computes `slow_us` longer than rank 0's 1000 and a little.
  std::string run_of(int slow_us, int more_us = 0) {
    const std::string path = folder_ / fmt::format("run{}", ++count_);
    write_training_run(path, count_, 20, [=](int rank, int step) {
      return 1000 + more_us + step % 4 + (rank == 1 ? slow_us : 0);
    });
    return path;
  }
  static Outcome diff(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {binary("lockstep"), "diff"});
    return run(arguments);
  }

  const TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(Diff, SaysFirstWhichRankIsTheDifference) {
  const Outcome said = diff({run_of(0), run_of(300)});
  EXPECT_EQ(said.exit_code, 0) << said.standard_error;
  const std::string first = said.standard_output.substr(0, said.standard_output.find("\n\n"));
  EXPECT_THAT(first, AllOf(HasSubstr("+300 µs"), HasSubstr("Rank 1 differs")));
  EXPECT_THAT(said.standard_output, AllOf(HasSubstr("by cause"), HasSubstr("by rank"),
                                          HasSubstr("by collective"), HasSubstr("what else differs")));
}

TEST_F(Diff, SumsToTheNanosecond) {
  const Outcome said =
      diff({run_of(0), run_of(1), run_of(2), "--to", run_of(0, 100), run_of(3, 101), "--json", "-"});
  ASSERT_EQ(said.exit_code, 0) << said.standard_error;
  const nlohmann::json json = nlohmann::json::parse(said.standard_output);
  EXPECT_EQ(json.at("schema"), "lockstep.diff/1");
  EXPECT_EQ(json.at("spread_of"), "runs");
  EXPECT_EQ(json.at("a").at("runs").size(), 3U);
  for (const char* side : {"a_ns", "b_ns", "change_ns"}) {
    std::int64_t causes = 0, ranks = 0, collectives = json.at("collectives_rest").at(side);
    for (const auto& cause : json.at("causes")) causes += cause.at(side).get<std::int64_t>();
    for (const auto& rank : json.at("ranks")) ranks += rank.at("part").at(side).get<std::int64_t>();
    for (const auto& part : json.at("collectives"))
      collectives += part.at("exposed").at(side).get<std::int64_t>();
    EXPECT_EQ(causes, json.at("step").at(side));
    EXPECT_EQ(ranks, json.at("step").at(side));
    EXPECT_EQ(collectives, json.at("exposed_communication").at(side));
  }
}

TEST_F(Diff, BadInputSaysWhatToDo) {
  const std::string one = run_of(0), other = run_of(0);
  const auto expect_bad = [&](const std::vector<std::string>& arguments, int code,
                              const std::string& message) {
    const Outcome bad = diff(arguments);
    EXPECT_EQ(bad.exit_code, code) << message;
    EXPECT_THAT(bad.standard_error, HasSubstr(message));
    EXPECT_THAT(bad.standard_output, IsEmpty());
  };
  expect_bad({one}, 2, "one run was given: two are compared");
  expect_bad({one, other, run_of(0)}, 2, "lockstep diff A1 A2 --to B1 B2");
  expect_bad({one, one}, 2, "are the same run");
  expect_bad({one, other, "--rows", "few"}, 2, "--rows");
  expect_bad({one, folder_ / "nowhere"}, 1, "nowhere");
}

TEST_F(Diff, WritesAFile) {
  const Outcome said = diff({run_of(0), run_of(0), "--json", folder_ / "diff.json", "--quiet"});
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_THAT(said.standard_output, IsEmpty());
  EXPECT_EQ(nlohmann::json::parse(test::read_whole_file(folder_ / "diff.json")).at("schema"),
            "lockstep.diff/1");
}

}  // namespace
}  // namespace lockstep::end_to_end
