// What docs/containers.md promises of the files that go into a container.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/end_to_end/recorded_run.h"
#include "tracer/doctor/local_machine.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using end_to_end::binary;
using end_to_end::injection_library;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::StartsWith;

std::vector<std::string> needed() {
  const auto facts = tracer::doctor::LocalMachine().inspect(injection_library());
  return facts.has_value() ? facts->needed : std::vector<std::string>{"unreadable"};
}

bool has_sanitizer() {
  for (const std::string& library : needed()) {
    if (library.find("san.so") != std::string::npos) return true;
  }
  return false;
}

TEST(Container, TheInjectedLibraryNeedsTheCLibraryAlone) {
  if (has_sanitizer()) GTEST_SKIP() << "built with a sanitizer, which brings a library along";
  EXPECT_THAT(needed(),
              Each(AnyOf(StartsWith("libc.so."), StartsWith("libm.so."), StartsWith("ld-linux-"),
                         StartsWith("libdl.so."), StartsWith("libpthread.so."), StartsWith("librt.so."))));
}

TEST(Container, TheTreeRecordsWhereverItWasCopiedTo) {
  const end_to_end::TemporaryFolder folder;
  fs::create_directories(folder.path() / "opt/bin");
  fs::create_directories(folder.path() / "opt/lib");
  fs::copy_file(binary("lockstep"), folder.path() / "opt/bin/lockstep");
  fs::copy_file(injection_library(), folder.path() / "opt/lib/liblockstep-inject.so");
  std::vector<std::string> command{folder / "opt/bin/lockstep", "record", "-q", "-o", folder / "run", "--"};
  for (const std::string& word : end_to_end::behave({"leave", "7"})) command.push_back(word);
  EXPECT_EQ(end_to_end::run(command).exit_code, 7);
  std::vector<std::string> traces;
  for (const auto& entry : fs::directory_iterator(folder.path() / "run")) {
    if (entry.path().extension() == ".lst") traces.push_back(entry.path());
  }
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_TRUE(trace::Reader::open(traces[0].c_str()).ok());
}

TEST(Container, TheLibraryAloneRecordsByItsVariables) {
  const end_to_end::TemporaryFolder folder;
  fs::create_directories(folder.path() / "run");
  const end_to_end::Outcome outcome =
      end_to_end::run(end_to_end::behave({"leave", "0"}),
                      {"NVTX_INJECTION64_PATH=" + injection_library(), "LOCKSTEP_RUN=" + (folder / "run"),
                       "LOCKSTEP_CPU=1", "RANK=0", "WORLD_SIZE=1"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.standard_error, "");
  const auto reader = trace::Reader::open((folder / "run/rank-0.lst").c_str());
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(end_to_end::range_names(reader.value()), ElementsAre("range 0", "range 1", "range 2"));
  EXPECT_EQ(reader.value().metadata().at("source.cpu"), "recording");
}

}  // namespace
}  // namespace lockstep
