// The checker of what a command's report sums to: it is silent on a sound report and names what does not
// hold.
#include "tests/end_to_end/report_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::IsEmpty;

json sound_report() {
  return json::parse(R"({"schema": "lockstep.report/2",
    "account": {"wall_ns": 10, "spent_ns": {"steady": 17, "other": 3},
      "ranks": [{"rank": 0, "spent_ns": {"steady": 8, "other": 2}, "checkpoint_beside_ns": 0},
                {"rank": 1, "spent_ns": {"steady": 9, "other": 1}, "checkpoint_beside_ns": 1}]},
    "steady": {"ranks": [{"rank": 0, "window_ns": 8, "partition": {"compute": 5, "other": 3}}]},
    "ranks": [{"rank": 0, "window_ns": 10, "partition": {"compute": 6, "other": 4}},
              {"rank": 1, "window_ns": null, "partition": null}],
    "steps": [{"step": 3, "rank": 0, "begin_ns": 1, "end_ns": 9, "window_ns": 8,
               "partition": {"compute": 5, "other": 3}}],
    "collectives": [{"id": 7, "ranks": [
      {"rank": 0, "arrival_ns": 2, "end_ns": 5, "wait_ns": 1, "transfer_ns": 2},
      {"rank": 1, "arrival_ns": 2, "end_ns": 5, "wait_ns": null, "transfer_ns": 2}]}],
    "findings": [{"code": "jitter", "lost_ns": 2, "lost_share": 0.2}]})");
}

TEST(ReportSums, HoldInASoundReport) {
  EXPECT_THAT(broken_sums(sound_report()), IsEmpty());
}

TEST(ReportSums, WhatDoesNotHoldIsSaid) {
  struct Change {
    const char* where;
    json value;
    const char* said;
  };
  const std::vector<Change> changes{
      {"/ranks/0/partition/other", 5, "window of rank 0: sum of causes 11 is not 10"},
      {"/steps/0/partition", json::object({{"compute", 9}, {"other", -1}}), "step 3 of rank 0: other is -1"},
      {"/steps/0/end_ns", 10, "step 3 of rank 0: its length 9 is not 8"},
      {"/steady/ranks/0/window_ns", 9, "steady training of rank 0: sum of causes 8 is not 9"},
      {"/account/ranks/0/spent_ns", json::object({{"steady", 8}}),
       "account of rank 0: all that it spent 8 is not 10"},
      {"/account/spent_ns/steady", 18, "account: steady 18 is not 17"},
      {"/account/ranks/1/checkpoint_beside_ns", -1, "account of rank 1: checkpoint_beside_ns is -1"},
      {"/collectives/0/ranks/0/wait_ns", 2, "operation 7 of rank 0: wait and transfer 4 is not 3"},
      {"/collectives/0/ranks/1/transfer_ns", -2, "operation 7 of rank 1: transfer_ns is -2"},
      {"/findings/0/lost_ns", -2, "jitter: lost_ns is -2"},
      {"/findings/0/lost_share", 1.5, "jitter: share 1.5"},
  };
  for (const Change& change : changes) {
    json report = sound_report();
    report.at(json::json_pointer(change.where)) = change.value;
    EXPECT_THAT(broken_sums(report), Contains(change.said)) << change.where;
  }
}

TEST(ReportSums, AreCheckedInWhateverACommandWrites) {
  const TemporaryFolder folder;
  write_two_ranks(folder / "traces");
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--range", "0:1ms"}}) {
    std::vector<std::string> command{binary("lockstep"), "analyze", folder / "traces", "--json", "-"};
    command.insert(command.end(), flags.begin(), flags.end());
    std::string text = run(command).standard_output;
    const std::size_t at = text.find("\"other\":", text.find("\"partition\""));
    ASSERT_NE(at, std::string::npos) << text;
    text.insert(at + std::string("\"other\":").size(), "7");  // 7 times a power of ten more
    const std::string file = folder.write("wrong.json", text);
    EXPECT_THROW(run({"cat", file}), std::runtime_error);
    EXPECT_THROW(run({"true", "--json", file}), std::runtime_error);
    EXPECT_NO_THROW(run({"false", "--json", file})) << "a command that failed wrote nothing";
    EXPECT_NO_THROW(run({"true", "--json", folder / "nothing"}));
    EXPECT_NO_THROW(run({"true", "--json"}));
  }
}

}  // namespace
}  // namespace lockstep::end_to_end
