// What `lockstep analyze` says to input that is missing, cut, damaged or strange: an error that names the
// file and what to do, or a report whose text and JSON both state what is wrong. Never a crash, a hang or a
// silent zero.
#include "tests/end_to_end/bad_input.h"

#include <fmt/format.h>
#include <zlib.h>

namespace lockstep::end_to_end {
namespace {

using testing::AllOf;
using testing::Not;

std::string gzip(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  return BadInput::read(path);
}

TEST_F(BadInput, MissingFile) {
  expect_error({folder_ / "absent.json"}, "absent.json: no such file or folder");
}

TEST_F(BadInput, FolderWithoutRanks) {
  fs::create_directories(folder_.path() / "empty");
  expect_error({folder_ / "empty"}, "nothing to analyze in this folder");
}

TEST_F(BadInput, EmptyFile) {
  expect_error({write("empty.json", "")}, "empty.json: the file is empty");
}

TEST_F(BadInput, NotJson) {
  // The whole sentence is importers_test's.
  expect_error({write("text.json", "hello\n")}, "text.json: neither a trace of ours, nor JSON, nor ");
  expect_error({write("text.json", "hello\n")}, ". Lockstep reads");
  expect_error({write("other.json", R"({"a": 1})")}, "other.json: JSON without an array \"traceEvents\"");
  expect_error({write("number.json", R"({"traceEvents": 7})")}, "JSON without an array \"traceEvents\"");
}

TEST_F(BadInput, JsonCutInTheMiddleKeepsWhatIsWhole) {
  const std::string text = good(1);
  std::ofstream(rank(1), std::ios::binary) << text.substr(0, text.find("ncclDevKernel"));
  const json report = expect_warning({traces_}, "file_damaged", "ends in the middle of the JSON, at byte ");
  ASSERT_EQ(report.at("ranks").size(), 2u);
  EXPECT_EQ(report.at("ranks")[1].at("activities").at("compute"), 1);  // its kernel stood before the cut
  // Events stand in no order of time: what is left is no measure of anything.
  for (const char* figure : {"compute_ns", "communication_ns", "collective_wait_ns", "partition"})
    EXPECT_TRUE(report.at("ranks")[1].at(figure).is_null()) << figure;
  EXPECT_EQ(report.at("ranks")[0].at("compute_ns"), 200'000);
}

TEST_F(BadInput, JsonCutAnywhereIsAnErrorOrAWarning) {
  const std::string text = good(1);
  for (std::size_t cut = 0; cut < text.size(); cut += 97) {
    const Outcome outcome = analyze({write("cut/rank-1.json", text.substr(0, cut))});
    ASSERT_EQ(outcome.signal, 0) << cut;
    ASSERT_THAT(outcome.standard_output + outcome.standard_error,
                testing::AnyOf(HasSubstr("ends in the middle"), HasSubstr("the file is empty")))
        << cut;
  }
}

TEST_F(BadInput, GzipCutOrDamaged) {
  const std::string whole = gzip(good(1));
  fs::remove(rank(1));
  write("traces/rank-1.json.gz", whole.substr(0, whole.size() - 9));
  expect_warning({traces_}, "file_damaged", "the gzip data is cut short");
  write("traces/rank-1.json.gz", whole.substr(0, 14));
  expect_warning({traces_}, "file_unreadable", "the gzip data is cut short");
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x7F);
  write("traces/rank-1.json.gz", damaged);
  const Outcome outcome = analyze({traces_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(joined(outcome.standard_output + outcome.standard_error),
              HasSubstr(joined("the gzip data is damaged near byte")));
}

TEST_F(BadInput, SameRankTwice) {
  write("traces/second.json", good(1));
  const json report = expect_warning({traces_}, "rank_duplicate", "rank 1 twice");
  EXPECT_EQ(report.at("ranks").size(), 2u);
}

TEST_F(BadInput, RankMissing) {
  fs::remove(rank(1));
  const json report = expect_warning({traces_}, "rank_missing", "1 of 2 ranks");
  EXPECT_EQ(report.at("run").at("ranks_missing"), json::array({1}));
}

TEST_F(BadInput, OneBadRankAmongGoodOnes) {
  write("traces/rank-2.json", "garbage");
  const json report =
      expect_warning({traces_}, "file_unreadable", "rank-2.json: neither a trace of ours, nor JSON, nor ");
  EXPECT_EQ(report.at("ranks").size(), 2u);
}

TEST_F(BadInput, NegativeAndOverflowingDurationsAreDroppedAndCounted) {
  replace(0, "\"dur\": 200.000", "\"dur\": -200.000");
  replace(1, "\"dur\": 500.000", "\"dur\": 9223372036854775.000");
  const json report =
      expect_warning({traces_}, "events_dropped", "1 event was dropped: 1 with a negative dur");
  expect_warning({traces_}, "events_dropped", "1 event was dropped: 1 whose dur overflows");
  for (const json& rank : report.at("ranks")) {
    EXPECT_EQ(rank.at("dropped_events"), 1);
    EXPECT_EQ(rank.at("compute_ns"), 0);
  }
}

TEST_F(BadInput, TimesThatOverflow) {
  replace(0, "\"ts\": 1000.000", "\"ts\": 99999999999999999999");
  expect_warning({traces_}, "events_dropped", "1 without a usable ts");
}

// The order of events in a file means nothing: the same figures, whatever it is.
TEST_F(BadInput, EventsOutOfOrderChangeNothing) {
  const auto figures = [&] {
    EXPECT_EQ(analyze({traces_, "--json", folder_ / "order.json"}).exit_code, 0);
    json report = json::parse(read(folder_ / "order.json"));
    return std::pair(report.at("ranks"), report.at("collectives"));
  };
  const auto before = figures();
  for (int number = 0; number < 2; ++number) {
    json trace = json::parse(good(number));
    std::reverse(trace.at("traceEvents").begin(), trace.at("traceEvents").end());
    std::ofstream(rank(number)) << trace.dump();
  }
  EXPECT_EQ(figures(), before);
}

TEST_F(BadInput, NoSteps) {
  for (int number = 0; number < 2; ++number) replace(number, "ProfilerStep#7", "something");
  const json report = expect_warning({traces_}, "no_steps", "no step marks");
  EXPECT_THAT(report.at("steps"), IsEmpty());
}

TEST_F(BadInput, NoCommunication) {
  for (int number = 0; number < 2; ++number) {
    replace(number, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "some_kernel");
    replace(number, "Collective name", "Collective nobody knows");
  }
  const json report = expect_warning({traces_}, "no_communication", "no communication was found");
  EXPECT_THAT(report.at("collectives"), IsEmpty());
  EXPECT_EQ(report.at("ranks")[0].at("overlap_ratio"), nullptr);
}

TEST_F(BadInput, OneRankOnly) {
  const json report = expect_warning({rank(0)}, "single_rank", "rank 0 alone");
  EXPECT_EQ(report.at("ranks").size(), 1u);
}

TEST_F(BadInput, FilesOfDifferentJobs) {
  write("traces/rank-2.json", [&] {
    std::string text = good(0);
    return text.replace(text.find("\"world_size\": 2"), 15, "\"world_size\": 9");
  }());
  expect_warning({traces_}, "world_size_mismatch", "is of a job of 9 ranks, not 2: left out");
}

TEST_F(BadInput, NoEventsAtAll) {
  expect_error({write("rank-0.json", R"({"traceEvents": []})")}, "rank-0.json: traceEvents holds no events");
  expect_error({write("rank-1.json", R"({"traceEvents": [{"ph": "i", "name": "x", "ts": 1}]})")},
               "rank-1.json: no GPU kernels and no steps: nothing to analyze");
  expect_error(
      {write("rank-2.json", R"({"traceEvents": [{"ph": "i", "name": "x", "ts": 1}, {"ph": "X")")},
      "rank-2.json: what can be read of it holds no GPU kernels and no steps. Copy or export it again");
  const json report = expect_warning({traces_, folder_ / "rank-0.json"}, "file_unreadable",
                                     "rank-0.json: traceEvents holds no events");
  EXPECT_EQ(report.at("ranks").size(), 2u);
}

TEST_F(BadInput, StrangeEventsAndText) {
  replace(0, "\"traceEvents\": [", "\"traceEvents\": [7, null, [1, [2]], \"text\", {}, {\"ph\": \"X\"},");
  const json report =
      expect_warning({traces_}, "events_unreadable", "4 elements of traceEvents are no JSON objects");
  EXPECT_EQ(report.at("ranks")[0].at("dropped_events"), 5);
  replace(1, "gemm", "ge\xFF\x01mm");
  expect_warning({traces_}, "text_repaired", "2 bytes are no UTF-8 or control characters");
}

TEST_F(BadInput, DeepNestingAndHugeNames) {
  replace(0, "\"traceEvents\": [",
          "\"traceEvents\": [{\"ph\": \"X\", \"args\": " + std::string(50'000, '[') +
              std::string(50'000, ']') + ", \"ts\": 1, \"dur\": 1},");
  replace(1, "gemm", std::string(2'000'000, 'x'));
  const Outcome outcome = analyze({traces_, "--json", folder_ / "report.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_EQ(json::parse(read(folder_ / "report.json")).at("ranks").size(), 2u);
}

TEST_F(BadInput, SeveralDevicesInOneFile) {
  replace(
      0, "\"traceEvents\": [",
      R"("traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 7, "ts": 1, "dur": 1, "args": {"device": 1, "stream": 7}},)");
  expect_warning({traces_}, "several_devices", "only device 0 is read, 1 left out");
}

TEST_F(BadInput, RecordedRunWithoutRanks) {
  write("run/proc-node7-99.lst", "x");
  expect_error({folder_ / "run"}, "proc-node7-99.lst: neither a trace of ours");  // the only one is the job
  write("run/proc-node7-100.lst", "x");
  expect_error({folder_ / "run"}, "no process of this run was a rank");
}

TEST_F(BadInput, NamesDoNotSpeakToTheTerminal) {
  const Outcome outcome = analyze({folder_ / "a\x1b[31mb"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(Not(HasSubstr("\x1b")), HasSubstr("a\\x1b[31mb: no such file")));
}

}  // namespace
}  // namespace lockstep::end_to_end
