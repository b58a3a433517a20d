// Which rank a file is of, where it does not say so.
#include <gtest/gtest.h>

#include "analyzer/import/kineto/kineto_text.h"

namespace lockstep::analyzer::kineto {
namespace {

std::string all_reduce(std::string_view group, std::string_view ranks) {
  return kernel("ncclDevKernel_AllReduce", "100", "5", 1, 7,
                fmt::format(R"(, "Collective name": "allreduce", "Process Group Name": "{}", )"
                            R"("Process Group Ranks": "{}", "In msg nelems": 4, "Out msg nelems": 4, )"
                            R"("dtype": "Float", "Group size": 2)",
                            group, ranks));
}

// -1: not known.
std::int32_t rank_of(const std::string& name, const std::vector<std::string>& events,
                     const std::string& head = R"("schemaVersion": 1)") {
  const RankImport import = import_text(document(events, head), {}, name);
  return import.rank_known ? import.trace.rank : -1;
}

TEST(RankOfAFile, IsNoDateAndNoProcess) {
  const std::vector<std::string> plain{kernel("k", "1", "2", 1)};
  EXPECT_EQ(rank_of("trace_3.json", plain), 3);
  EXPECT_EQ(rank_of("trace_1016003.json", plain), -1);
  EXPECT_EQ(rank_of("trace_20261123.json", plain), -1);
  EXPECT_EQ(rank_of("rank131071.json", plain), 131071);
  EXPECT_EQ(rank_of("rank1016003.json", plain), -1) << "1 of 1016004 ranks";
  EXPECT_EQ(rank_of("rank99999999.json", plain), -1);
  EXPECT_EQ(rank_of("worker_3.1694128201545.pt.trace.json", plain), 3);
  EXPECT_EQ(rank_of("gpu-worker_30211.1694128201545.pt.trace.json", plain), -1) << "a host and a process";
}

// tensorboard_trace_handler's own names: HOST_PID.TIMESTAMP. In a container the process's number is small.
// The events are of process 100.
TEST(RankOfAFile, IsNoProcessThatTheEventsNameToo) {
  const std::vector<std::string> events{launch("1", "1", 1), kernel("k", "1", "2", 1)};
  EXPECT_EQ(rank_of("vm_100.1796047642500863723.pt.trace.json", events), -1);
  EXPECT_EQ(rank_of("gpu-worker_100.1694128201545.pt.trace.json", events), -1);
  EXPECT_EQ(rank_of("node1.cluster_100.1694128201545.pt.trace.json", events), -1);
  EXPECT_EQ(rank_of("vm_1.1796047642500863723.pt.trace.json", {kernel("k", "1", "2", 1)}), -1)
      << "no event names a process";
  EXPECT_EQ(rank_of("worker_3.1694128201545.pt.trace.json", events), 3) << "a name that somebody gave";
  EXPECT_EQ(rank_of("rank_100.1694128201545.pt.trace.json", events), 100) << "a name that somebody gave";
  EXPECT_EQ(rank_of("trace_100.json", events), 100) << "no name of that kind";
}

TEST(RankOfAFile, IsAGuessWhereNothingSaysThatANumberIsOne) {
  const auto guessed = [](const std::string& name, const std::string& event) {
    return import_text(document({event}, R"("schemaVersion": 1)"), {}, name).rank_is_guessed;
  };
  EXPECT_TRUE(guessed("step_500.json", kernel("k", "1", "2", 1)));
  EXPECT_TRUE(guessed("trace_0.json", all_reduce("1", "[0, 1]"))) << "it may be a step all the same";
  EXPECT_FALSE(guessed("rank_5.json", kernel("k", "1", "2", 1)));
}

TEST(RankOfAFile, TheContentIsAskedFirst) {
  const std::vector<std::string> of_two{all_reduce("1", "[0, 2048]")};
  EXPECT_EQ(rank_of("trace_2048.json", of_two), 2048);
  EXPECT_EQ(rank_of("step_100.json", of_two), -1) << "its groups have no rank 100";
  EXPECT_EQ(rank_of("rank-5.json", of_two), -1) << "neither of them is rank 5";
  EXPECT_EQ(rank_of("trace.json", {all_reduce("1", "[0, 8]"), all_reduce("2", "[8, 9]")}), 8)
      << "the only one that is in both";
  EXPECT_EQ(rank_of("step_100.json", {kernel("k", "1", "2", 1)}, R"("distributedInfo": {"world_size": 8})"),
            -1);
}

}  // namespace
}  // namespace lockstep::analyzer::kineto
