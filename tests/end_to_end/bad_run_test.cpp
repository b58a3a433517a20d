// The same of recorded runs: cut, flipped, newer than us, with a named pipe in the place of a file.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <span>

#include "tests/end_to_end/bad_input.h"
#include "trace/compact.h"
#include "trace/format/checksum.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace lockstep::end_to_end {
namespace {

using testing::AllOf;
using testing::Not;

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

  static void make_pipes(const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) ASSERT_EQ(mkfifo((folder + "/" + name).c_str(), 0600), 0) << name;
  }

  // Whoever waits is killed.
  static constexpr int kKilled = 137;
  static Outcome within_time(std::vector<std::string> arguments) {
    // Its own display; the leaks of the OpenGL driver are not ours.
    const bool draws = arguments.front() == "view";
    arguments.insert(arguments.begin(), {"timeout", "--signal=KILL", "60", binary("lockstep")});
    return draws ? run(arguments, {"DISPLAY=", "WAYLAND_DISPLAY=", "ASAN_OPTIONS=detect_leaks=0"})
                 : run(arguments);
  }

  // Each verb that reads runs, on this one.
  std::vector<std::vector<std::string>> verbs_on(const std::string& run) const {
    std::vector<std::vector<std::string>> verbs{
        {"analyze", run},
        {"export", "--force", "-f", "chrome", "-o", folder_ / "out.json", run},
        {"export", "--force", "-f", "sqlite", "-o", folder_ / "out.sqlite", run},
        {"diff", run, traces_},
        {"scale", run, traces_},
        {"check", run, "--baseline", traces_},
        {"check", traces_, "--baseline", run},
        {"baseline", "save", run, "-o", folder_ / "baseline.json"},
        {"collect", "--force", run, "-o", folder_ / "joined"}};
    if (fs::exists(binary("lockstep-view")))
      verbs.push_back({"view", run, "--screenshot", folder_ / "a.png"});
    return verbs;
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
  const std::vector<std::string> names{"rank-1.lst",       "clock-node7.json",  "manifest-rank-1.json",
                                       "hang-rank-0.json", "nccl_trace_rank_0", "nccl.log"};
  make_pipes(run, names);
  for (const std::string& name : names)
    expect_warning({run}, "file_unreadable", name + ": not a regular file");
  fs::remove(run + "/manifest.json");
  ASSERT_EQ(mkfifo((run + "/manifest.json").c_str(), 0600), 0);
  expect_warning({run}, "manifest_damaged", "manifest.json: not a regular file; the world size");
  ASSERT_EQ(mkfifo((traces_ + "/rank-2.json").c_str(), 0600), 0);
  expect_warning({traces_}, "file_unreadable", "rank-2.json: not a regular file, and left out");
  expect_error({traces_ + "/rank-2.json"}, "rank-2.json: neither a file nor a folder");
}

// Whether it can do without the rank in whose place one stands, or not: each verb says which it is.
TEST_F(BadRun, NamedPipesAreNamedByEachVerb) {
  const auto expect_named = [&](const std::vector<std::string>& verb, const std::string& name) {
    const Outcome outcome = within_time(verb);
    const std::string said = outcome.standard_output + outcome.standard_error;
    EXPECT_NE(outcome.exit_code, kKilled) << verb[0];
    EXPECT_EQ(outcome.signal, 0) << verb[0];
    const bool cannot_draw = verb[0] == "view" && (said.find("Xvfb") != std::string::npos ||
                                                   said.find("OpenGL") != std::string::npos);
    if (!cannot_draw) {
      EXPECT_THAT(joined(said), HasSubstr(name)) << verb[0];
    }
    return outcome.exit_code;
  };
  const std::string path = write_run();
  fs::remove(path + "/rank-1.lst");
  make_pipes(path, {"rank-1.lst", "clock-node7-4711.json", "manifest-rank-1.json", "hang-rank-0.json",
                    "nccl_trace_rank_0", ".lockstep-view", ".lockstep-view-session"});
  for (const auto& verb : verbs_on(path)) (void)expect_named(verb, "rank-1.lst");

  const std::string pipes = folder_ / "pipes";
  fs::create_directory(pipes);
  make_pipes(pipes, {"manifest.json", "rank-0.lst"});
  for (const auto& verb : verbs_on(pipes)) EXPECT_NE(expect_named(verb, "rank-0.lst"), 0) << verb[0];

  make_pipes(folder_.path().string(), {"nccl_trace_rank_0"});
  for (const auto& verb : verbs_on(folder_ / "nccl_trace_rank_0"))
    EXPECT_NE(expect_named(verb, "nccl_trace_rank_0"), 0) << verb[0];
}

// The same of what records and joins.
TEST_F(BadRun, NamedPipesKeepNoRecorderWaiting) {
  const std::string path = write_run();
  make_pipes(path, {"manifest-rank-1.json", "rank-7.lst", "hang-rank-0.json", "clock-node7-4711.json"});
  const Outcome collected = within_time({"collect", path, "-o", folder_ / "joined"});
  EXPECT_EQ(collected.exit_code, 0) << collected.standard_error;
  EXPECT_TRUE(fs::is_regular_file(folder_.path() / "joined" / "rank-1.lst"));
  EXPECT_THAT(collected.standard_error, HasSubstr("rank-7.lst' is no regular file, and left out"));
  EXPECT_FALSE(fs::exists(folder_.path() / "joined" / "manifest-rank-1.json"));

  const Outcome refused = within_time({"record", "-o", path, "--", "true"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(joined(refused.standard_error), HasSubstr(joined("holds a run already")));
  const Outcome forced = within_time({"record", "--force", "-o", path, "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(forced.exit_code, 7) << forced.standard_error;
  EXPECT_FALSE(fs::exists(path + "/rank-0.lst"));
  EXPECT_TRUE(fs::is_fifo(path + "/manifest-rank-1.json")) << "a run has no named pipe: it is not ours";

  // In the place of the manifest itself, and of the only trace. Whatever is said of them, nobody waits.
  fs::create_directory(folder_.path() / "pipes");
  make_pipes(folder_ / "pipes", {"manifest.json", "rank-0.lst"});
  EXPECT_NE(within_time({"record", "--force", "-o", folder_ / "pipes", "--", "true"}).exit_code, kKilled);
}

// Its steps may have been fast: what came of them nobody knows.
TEST_F(BadRun, OneThatDidNotEndWellIsNotJudged) {
  const std::string path = write_run();
  const auto expect_refused = [&](const std::string& why) {
    const Outcome checked = run({binary("lockstep"), "check", path, "--baseline", traces_});
    EXPECT_EQ(checked.exit_code, 2) << why;
    EXPECT_THAT(checked.standard_error, HasSubstr(path + " can't be judged: " + why));
    EXPECT_THAT(checked.standard_error, HasSubstr(": record it again"));
    const Outcome saved =
        run({binary("lockstep"), "baseline", "save", path, "-o", folder_ / "baseline.json"});
    EXPECT_EQ(saved.exit_code, 1) << why;
    EXPECT_FALSE(fs::exists(folder_.path() / "baseline.json")) << why;
  };
  const auto end_with = [&](const std::string& members) {
    write("run/manifest.json", R"({"format": "lockstep.run/1", "world_size": 2, )" + members + "}");
  };
  end_with(R"("exit_code": 3)");
  expect_refused("the job ended with exit code 3");
  end_with(R"("exit_code": null, "signal": {"number": 9, "name": "SIGKILL"})");
  expect_refused("the job was ended by signal 9");
  end_with(R"("exit_code": 130, "interrupted": {"signal": {"number": 2, "name": "SIGINT"},
              "time_realtime": 1700000000000000000})");
  expect_refused("the job was interrupted by Ctrl-C (SIGINT)");
  end_with(R"("exit_code": 0)");
  fs::remove(path + "/rank-1.lst");
  expect_refused("1 rank left no trace");
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
