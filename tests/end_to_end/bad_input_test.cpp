// What `lockstep analyze` says to input that is missing, cut, damaged or strange: an error that names the
// file and what to do, or a report whose text and JSON both state what is wrong. Never a crash, a hang or a
// silent zero.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"
#include "trace/compact.h"
#include "trace/format/checksum.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class BadInput : public testing::Test {
 protected:
  void SetUp() override { write_two_ranks(traces_); }

  std::string write(const std::string& name, const std::string& content) const {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
    return folder_ / name;
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string rank(int number) const { return traces_ + "/rank-" + std::to_string(number) + ".json"; }
  std::string good(int number) const { return read(rank(number)); }
  void replace(int number, const std::string& what, const std::string& with) const {
    std::string text = good(number);
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), with);
    std::ofstream(rank(number), std::ios::binary) << text;
  }

  static Outcome analyze(std::vector<std::string> paths) {
    std::vector<std::string> arguments{binary("lockstep"), "analyze"};
    arguments.insert(arguments.end(), paths.begin(), paths.end());
    return run(arguments);
  }

  // Fails, prints no report, and says `message`.
  static void expect_error(const std::vector<std::string>& paths, const std::string& message) {
    const Outcome outcome = analyze(paths);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.standard_output, IsEmpty());
    EXPECT_THAT(outcome.standard_error, HasSubstr(message));
  }

  // Succeeds; the warning stands in the JSON under its code and, in its words, in the text. Returns the JSON.
  json expect_warning(const std::vector<std::string>& paths, const std::string& code,
                      const std::string& words) const {
    std::vector<std::string> with_json = paths;
    with_json.insert(with_json.end(), {"--json", folder_ / "report.json", "--width", "200"});
    const Outcome outcome = analyze(with_json);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    const json report = json::parse(read(folder_ / "report.json"), nullptr, false);
    if (!report.is_object()) {
      ADD_FAILURE() << "no JSON report; standard error: " << outcome.standard_error;
      return json::object();
    }
    std::string messages;
    for (const json& warning : report.at("warnings"))
      if (warning.at("code") == code) messages += warning.at("message").get<std::string>() + "\n";
    EXPECT_THAT(messages, HasSubstr(words)) << report.at("warnings").dump(2);
    EXPECT_THAT(joined(outcome.standard_output + outcome.standard_error), HasSubstr(joined(words)));
    return report;
  }

  // The text report breaks lines: compared without white space.
  static std::string joined(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  }

  static std::string gzip(const std::string& text) {
    const TemporaryFolder folder;
    const std::string path = folder / "x.gz";
    gzFile file = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
    return read(path);
  }

  const TemporaryFolder folder_;
  const std::string traces_ = folder_ / "traces";
};

TEST_F(BadInput, MissingFile) {
  expect_error({folder_ / "absent.json"}, "absent.json: no such file or folder");
}

TEST_F(BadInput, FolderWithoutRanks) {
  fs::create_directories(folder_.path() / "empty");
  expect_error({folder_ / "empty"}, "no ranks in this folder");
}

TEST_F(BadInput, EmptyFile) {
  expect_error({write("empty.json", "")}, "empty.json: the file is empty");
}

TEST_F(BadInput, NotJson) {
  expect_error(
      {write("text.json", "hello\n")},
      "text.json: neither a trace of ours, nor JSON, nor a pickle, nor a log of NCCL. Understood are");
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
  const json report = expect_warning({traces_}, "file_unreadable",
                                     "rank-2.json: neither a trace of ours, nor JSON, nor a pickle");
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

class BadRun : public BadInput {
 protected:
  std::string write_run() const {
    fs::create_directories(folder_.path() / "run");
    for (int number = 0; number < 2; ++number) {
      Result<trace::Writer> created =
          trace::Writer::create((folder_ / fmt::format("run/rank-{}.lst", number)).c_str());
      EXPECT_TRUE(created.ok());
      trace::Writer& writer = created.value();
      writer.set_metadata("rank", std::to_string(number));
      writer.set_metadata("world_size", "2");
      writer.set_metadata("host", "node7");
      const trace::LaneId lane = writer.add_lane({trace::LaneKind::compute_thread, 1, 1, 0, ""});
      for (int i = 0; i < 40; ++i) {
        writer.append(trace::DeviceActivity{lane, 100 * i, 100 * i + 60, writer.intern("layer"),
                                            trace::ActivityClass::compute, 0, 0});
        EXPECT_TRUE(writer.flush().ok());
      }
      EXPECT_TRUE(writer.close().ok());
    }
    write("run/manifest.json", R"({"format": "lockstep.run/1", "world_size": 2})");
    return folder_ / "run";
  }
};

TEST_F(BadRun, CutAnywhere) {
  const std::string path = write_run();
  const std::string file = path + "/rank-1.lst";
  const std::string whole = read(file);
  for (std::size_t cut = 0; cut < whole.size(); cut += 1 + whole.size() / 40) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, cut);
    const Outcome outcome = analyze({path});
    ASSERT_EQ(outcome.signal, 0) << cut;
    ASSERT_EQ(outcome.exit_code, 0) << cut << outcome.standard_error;  // rank 0 can still be told
    ASSERT_THAT(outcome.standard_output + outcome.standard_error, HasSubstr("rank-1.lst")) << cut;
  }
}

// One chunk holds three activities of rank 1: all of its figures are unknown from then on, rank 0's are not.
TEST_F(BadRun, AFlippedByteLeavesNoFigureOfItsRank) {
  const std::string path = write_run();
  std::string bytes = read(path + "/rank-1.lst");
  const trace::ChunkInfo chunk = [&] {
    const Result<trace::Reader> reader = trace::Reader::open(fs::path(path + "/rank-1.lst"));
    EXPECT_TRUE(reader.ok());
    for (const trace::ChunkInfo& info : reader.value().chunks())
      if (info.kind == trace::EventKind::device_activity && info.begin > 1000) return info;
    return trace::ChunkInfo{};
  }();
  bytes[chunk.offset + chunk.size - 1] ^= 0x40;
  std::ofstream(path + "/rank-1.lst", std::ios::binary) << bytes;
  const json report = expect_warning({path}, "file_damaged", "device_activity event");
  ASSERT_EQ(report.at("ranks").size(), 2u);
  EXPECT_EQ(report.at("ranks")[0].at("compute_ns"), 40 * 60);
  for (const char* figure : {"compute_ns", "exposed_communication_ns", "overlap_ratio", "partition"})
    EXPECT_TRUE(report.at("ranks")[1].at(figure).is_null()) << figure;
  EXPECT_TRUE(report.at("efficiency").at("parallel").is_null());
  EXPECT_THAT(analyze({path}).standard_output, HasSubstr("The trace of rank 1 is damaged"));
}

// record compacts closed files: their chunks stand in order of kind, and a cut takes whole lanes away.
TEST_F(BadRun, ACutOfACompactedFileLeavesNoFigureOfItsRank) {
  const std::string path = write_run();
  const std::string file = path + "/rank-1.lst";
  ASSERT_TRUE(trace::compact(file.c_str()).ok());
  std::string bytes = read(file);
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() - 10);
  const json report = expect_warning({path}, "file_damaged", "has no footer");
  ASSERT_EQ(report.at("ranks").size(), 2u);
  EXPECT_TRUE(report.at("ranks")[1].at("compute_ns").is_null());
}

// Opening one waits until somebody writes into it: nobody does.
TEST_F(BadRun, NamedPipesAreNotWaitedFor) {
  const std::string run = write_run();
  fs::remove(run + "/rank-1.lst");
  for (const char* name : {"rank-1.lst", "clock-node7.json", "manifest-rank-1.json", "hang-rank-0.json"})
    ASSERT_EQ(mkfifo((run + "/" + name).c_str(), 0600), 0);
  expect_warning({run}, "file_unreadable", "rank-1.lst: not a regular file");
  fs::remove(run + "/manifest.json");
  ASSERT_EQ(mkfifo((run + "/manifest.json").c_str(), 0600), 0);
  expect_warning({run}, "manifest_damaged", "manifest.json: no JSON object");
  ASSERT_EQ(mkfifo((traces_ + "/rank-2.json").c_str(), 0600), 0);
  EXPECT_EQ(analyze({traces_}).exit_code, 0);
  expect_error({traces_ + "/rank-2.json"}, "rank-2.json: neither a file nor a folder");
}

TEST_F(BadInput, NamesDoNotSpeakToTheTerminal) {
  const Outcome outcome = analyze({folder_ / "a\x1b[31mb"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(Not(HasSubstr("\x1b")), HasSubstr("a\\x1b[31mb: no such file")));
}

TEST_F(BadRun, NewerVersion) {
  const std::string path = write_run();
  std::string bytes = read(path + "/rank-1.lst");
  // docs/trace-format.md: major version at 8, the header's checksum over its first 24 bytes at 24.
  bytes[8] = 0x7F;
  const std::uint64_t checksum = trace::format::checksum(std::as_bytes(std::span(bytes.data(), 24)));
  std::memcpy(bytes.data() + 24, &checksum, sizeof checksum);
  std::ofstream(path + "/rank-1.lst", std::ios::binary) << bytes;
  const Outcome outcome = analyze({path});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.standard_output + outcome.standard_error,
              AllOf(HasSubstr("rank-1.lst"), HasSubstr("version")));
}

TEST_F(BadRun, ManifestMissingOrDamaged) {
  const std::string path = write_run();
  fs::remove(path + "/manifest.json");
  expect_warning({path}, "manifest_missing", "the world size is taken from the ranks' files");
  write("run/manifest.json", "{\"wor");
  expect_warning({path}, "manifest_damaged", "the world size is taken from the ranks' files");
}

}  // namespace
}  // namespace lockstep::end_to_end
