// The whole examination, its text and its JSON; and the real machine's probes.
#include "tracer/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/temporary_folder.h"
#include "tracer/doctor/fake_machine.h"
#include "tracer/doctor/local_machine.h"
#include "tracer/doctor/subprocess.h"
#include "tracer/protocol/source_table.h"

namespace lockstep::tracer::doctor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Examination examine_fake(FakeMachine& machine, const std::vector<std::string>& required) {
  machine.add_library("/opt/lib/liblockstep-inject.so", "/opt/lib/liblockstep-inject.so", {{true, 0, 0}});
  Situation situation{
      machine, {}, "/runs", Result<std::string>(std::string("/opt/lib/liblockstep-inject.so"))};
  return examine(std::move(situation), required, [](const std::string&) {});
}

State state_of(const Examination& examination, const std::string& name) {
  for (const SourceVerdict& source : examination.sources) {
    if (source.name == name) return source.state;
  }
  return State::note;
}

TEST(Examination, ABareMachineRecordsNvtxAndCountersOnly) {
  FakeMachine machine;
  machine.files = {{"/proc/self/stat", "1"}, {"/proc/self/schedstat", "0 0 0"}};
  const Examination examination = examine_fake(machine, {"nvtx", "cupti", "nccl"});
  EXPECT_EQ(state_of(examination, "nvtx"), State::ok);
  EXPECT_EQ(state_of(examination, "scheduling"), State::ok);
  EXPECT_EQ(state_of(examination, "cpu"), State::ok);
  for (const char* source : {"cupti", "nccl", "pytorch", "nvml"}) {
    EXPECT_EQ(state_of(examination, source), State::missing) << source;
  }
  EXPECT_THAT(examination.unmet, ElementsAre("cupti", "nccl"));
}

TEST(Examination, EveryMissingOrLimitedSourceHasARemedyOrAReason) {
  FakeMachine machine;
  const Examination examination = examine_fake(machine, {});
  for (const Check& check : examination.checks) {
    EXPECT_FALSE(check.finding.empty()) << check.name;
    EXPECT_TRUE(check.state != State::missing || !check.remedy.empty()) << check.name;
    for (const std::string& source : check.sources) EXPECT_NE(find_source(source), nullptr) << source;
  }
}

TEST(Examination, WithoutOurLibraryNothingIsRecorded) {
  FakeMachine machine;
  Situation situation{machine, {}, ".", Result<std::string>(Error{"liblockstep-inject.so is not there"})};
  const Examination examination = examine(std::move(situation), {}, [](const std::string&) {});
  for (const SourceVerdict& source : examination.sources)
    EXPECT_EQ(source.state, State::missing) << source.name;
  EXPECT_EQ(examination.sources[0].reason, "liblockstep-inject.so is not there");
}

TEST(Examination, AJobThatRunsElsewhereHasNoPythonOfThisMachine) {
  for (const auto& [word, elsewhere] :
       {std::pair{"docker", true}, {"ssh", true}, {"sudo", false}, {"train", false}}) {
    FakeMachine machine;
    Situation situation{machine, {word, "run", "x"}, "/runs", Result<std::string>(std::string("/opt/x.so"))};
    const Examination examination = examine(std::move(situation), {}, [](const std::string&) {});
    const bool asked =
        std::any_of(examination.checks.begin(), examination.checks.end(), [](const Check& check) {
          return check.name.starts_with("python.") || check.name.starts_with("pytorch.");
        });
    EXPECT_EQ(asked, !elsewhere) << word;
  }
}

TEST(Text, OneLineACheckAndRemediesBelow) {
  Examination examination;
  examination.host = "node\x1b[31m\u009B31m7";
  examination.checks = {{"a.long.name", {"nvtx"}, State::missing, "two\nlines", "do this"},
                        {"b", {}, State::note, "fine", ""}};
  examination.sources = judge(examination.checks);
  const std::string text = to_text(examination, {});
  EXPECT_THAT(text, HasSubstr("  missing  a.long.name two lines\n                       -> do this\n"));
  EXPECT_THAT(text, HasSubstr("  -        b           fine\n"));
  EXPECT_THAT(text, HasSubstr("  missing  nvtx       two lines\n"));
  EXPECT_THAT(text, HasSubstr("on node\\x1B[31m\\x9B31m7\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "not even one that another program smuggled in";
  EXPECT_THAT(to_text(examination, {true}), HasSubstr("\x1b[31mmissing"));
}

TEST(Json, HoldsEverything) {
  FakeMachine machine;
  const Examination examination = examine_fake(machine, {"cupti"});
  const json document = json::parse(to_json(examination));
  EXPECT_EQ(document.at("schema"), "lockstep.doctor/1");
  EXPECT_EQ(document.at("unmet"), json::array({"cupti"}));
  EXPECT_EQ(document.at("sources").at("nvtx").at("state"), "ok");
  EXPECT_EQ(document.at("checks").size(), examination.checks.size());
  for (const json& check : document.at("checks")) {
    for (const char* key : {"name", "state", "sources", "finding", "remedy", "values"}) {
      EXPECT_TRUE(check.contains(key)) << key;
    }
  }
}

// --- the real machine ---

class LocalMachineTest : public testing::Test {
 protected:
  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  LocalMachine machine_;
};

TEST_F(LocalMachineTest, LibrariesAreLoadedAndCalled) {
  const LibraryFacts facts =
      machine_.load("libc.so.6", {{"abs", Call::Kind::takes_zero}, {"no_such_function"}});
  EXPECT_TRUE(facts.loads) << facts.problem;
  EXPECT_THAT(facts.path, HasSubstr("libc"));
  ASSERT_EQ(facts.results.size(), 2U);
  EXPECT_TRUE(facts.results[0].found);
  EXPECT_EQ(facts.results[0].code, 0);
  EXPECT_FALSE(facts.results[1].found);
  const LibraryFacts none = machine_.load("libno-such-library.so.1", {});
  EXPECT_FALSE(none.loads);
  EXPECT_THAT(none.problem, HasSubstr("libno-such-library.so.1"));
}

TEST_F(LocalMachineTest, ALibraryThatCrashesCrashesAlone) {
  const LibraryFacts facts = machine_.load("libc.so.6", {{"strlen", Call::Kind::takes_zero}});
  EXPECT_FALSE(facts.loads);
  EXPECT_NE(facts.problem, "");
}

TEST_F(LocalMachineTest, CommandsEndInTime) {
  const CommandResult done = run_command({"sh", "-c", "cat; echo out; echo err >&2; exit 3"}, 60'000);
  EXPECT_TRUE(done.started);
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_EQ(done.output, "out\n");
  EXPECT_EQ(done.error, "err\n");
  // The grandchild keeps the pipe open: it is killed too.
  const CommandResult late = run_command({"sh", "-c", "sleep 1000 & echo begun; sleep 1000"}, 300);
  EXPECT_TRUE(late.timed_out);
  EXPECT_FALSE(run_command({"no-such-command-anywhere"}, 60'000).started);
  EXPECT_FALSE(ask_child([] { return std::string(pause() == 0 ? "" : "x"); }, 200).finished);
  EXPECT_THAT(ask_child([]() -> std::string { _exit(9); }, 60'000).problem, HasSubstr("exit code 9"));
}

TEST_F(LocalMachineTest, WritingIsMeasuredAndLeavesNothing) {
  const WriteRate rate = machine_.measure_writing(folder_ / "not" / "there" / "yet");
  EXPECT_EQ(rate.problem, "");
  EXPECT_GT(rate.bytes, 0U);
  EXPECT_LE(rate.bytes, 64U << 20U);
  EXPECT_GT(rate.nanoseconds, 0);
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_NE(machine_.measure_writing("/proc").problem, "");
}

TEST_F(LocalMachineTest, FilesAreReadAndLookedInto) {
  std::ofstream(folder_ / "file") << std::string(100'000, 'x');
  EXPECT_EQ(machine_.read(folder_ / "file")->size(), 65536U);
  EXPECT_FALSE(machine_.read(folder_ / "none").has_value());
  EXPECT_FALSE(machine_.read(folder_).has_value());
  EXPECT_THAT(machine_.list(folder_), ElementsAre("file"));
  EXPECT_FALSE(machine_.is_executable(folder_ / "file"));
  EXPECT_NE(machine_.find_command("sh"), "");
  EXPECT_TRUE(machine_.file_system(folder_ / "deeper" / "still").has_value());
  EXPECT_GE(machine_.processors(), 1U);
}

TEST_F(LocalMachineTest, ExecutablesAreLookedInto) {
  const std::optional<ElfFacts> self = machine_.inspect("/proc/self/exe");
  ASSERT_TRUE(self.has_value());
  EXPECT_TRUE(self->is_executable);
  EXPECT_TRUE(self->has_interpreter);
  EXPECT_THAT(self->interpreter, HasSubstr("/ld"));
  EXPECT_EQ(why_not_entered(*self), "");
  EXPECT_THAT(self->needed, Contains(HasSubstr("libc.so")));
  EXPECT_FALSE(machine_.inspect("/etc/passwd").has_value());
}

TEST(Elf, DamagedFilesAreRefusedOrReadInBounds) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string bytes(4096, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const auto inspect = [](const std::string& text) {
    return inspect_elf([&](std::uint64_t offset, char* out, std::size_t size) -> std::size_t {
      if (offset >= text.size()) return 0;
      const std::size_t length = std::min(size, text.size() - offset);
      std::memcpy(out, text.data() + offset, length);
      return length;
    });
  };
  EXPECT_FALSE(inspect("").has_value());
  EXPECT_FALSE(inspect("\x7f"
                       "ELF")
                   .has_value());
  // Every byte of the headers turned over, and the file cut there: no crash, no endless loop.
  for (std::size_t i = 0; i < 1200; ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    (void)inspect(damaged);
    (void)inspect(bytes.substr(0, i));
  }
}

}  // namespace
}  // namespace lockstep::tracer::doctor
