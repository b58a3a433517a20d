// `lockstep doctor` on this machine, whatever it has: what is printed, the JSON, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Outcome doctor(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) {
  arguments.insert(arguments.begin(), {binary("lockstep"), "doctor"});
  return run(arguments, environment);
}

std::string state_of(const json& document, const std::string& check) {
  for (const json& one : document.at("checks")) {
    if (one.at("name") == check) return one.at("state");
  }
  return "absent";
}

TEST(Doctor, SaysWhatItFoundInText) {
  const Outcome outcome = doctor({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_THAT(outcome.standard_error, IsEmpty());
  for (const char* source : {"nvtx", "cupti", "nccl", "pytorch", "scheduling", "cpu", "nvml"}) {
    EXPECT_THAT(outcome.standard_output, HasSubstr(std::string(" ") + source + " "));
  }
  EXPECT_THAT(outcome.standard_output,
              AllOf(HasSubstr("ok       installation.library"), Not(HasSubstr("\x1b"))));
}

TEST(Doctor, JsonHasTheSourcesAndTheChecks) {
  const TemporaryFolder folder;
  const Outcome outcome = doctor({"--json", "-", "-o", folder / "run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const json document = json::parse(outcome.standard_output);
  EXPECT_EQ(document.at("schema"), "lockstep.doctor/1");
  EXPECT_EQ(document.at("sources").at("nvtx").at("state"), "ok");
  EXPECT_EQ(state_of(document, "disk.writing") == "missing", false);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "the run folder is not created";
  ASSERT_EQ(doctor({"-q", "--json", folder / "doctor.json"}).standard_output, "");
  std::ifstream file(folder / "doctor.json");
  EXPECT_EQ(json::parse(file).at("schema"), "lockstep.doctor/1");
}

TEST(Doctor, WhatIsRequiredAndMissingIsExitCodeOne) {
  const std::vector<std::string> taken{"NVTX_INJECTION64_PATH=/opt/other/libtool.so"};
  const Outcome outcome = doctor({"--require", "cpu,nvtx"}, taken);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_output,
              AllOf(HasSubstr("Required and missing: nvtx\n"), HasSubstr("-> unset NVTX_INJECTION64_PATH")));
  EXPECT_EQ(doctor({"--require", "nvtx", "-q"}).exit_code, 0);
  EXPECT_EQ(doctor({}, taken).exit_code, 0) << "nothing was asked for";
}

TEST(Doctor, TheCommandsOwnPythonIsAsked) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "site/torch");
  std::ofstream(folder / "site/torch/__init__.py") << "raise SystemExit('must not be imported')\n";
  std::ofstream(folder / "site/torch/version.py") << "__version__ = '2.6.0'\ncuda = None\n";
  std::ofstream(folder / "site/sitecustomize.py") << "print('hello')\n";
  const std::vector<std::string> environment{"PYTHONPATH=" + (folder / "site")};
  if (run({"python3", "-c", "1"}).exit_code != 0) GTEST_SKIP() << "there is no python3 on PATH";
  json document =
      json::parse(doctor({"--json", "-", "--", "python3", "train.py"}, environment).standard_output);
  EXPECT_EQ(state_of(document, "pytorch.version"), "ok");
  EXPECT_EQ(state_of(document, "python.hook"), "ok");
  EXPECT_THAT(document.dump(), AllOf(HasSubstr("torch 2.6.0 (CPU only)"), HasSubstr("sitecustomize.py")));
  document =
      json::parse(doctor({"--json", "-", "--", "python3", "-I", "train.py"}, environment).standard_output);
  EXPECT_EQ(state_of(document, "python.hook"), "missing");
}

TEST(Doctor, CommandsThatCanNotBeRecordedAreSaid) {
  const Outcome gone = doctor({"--", "no-such-command-anywhere"});
  EXPECT_EQ(gone.exit_code, 0);
  EXPECT_THAT(gone.standard_output, HasSubstr("missing  command.recordable"));
  const Outcome cleared = doctor({"--require", "nvtx", "--", "env", "-i", "sh"});
  EXPECT_EQ(cleared.exit_code, 1);
  EXPECT_THAT(cleared.standard_output, HasSubstr("env -i clears"));
}

TEST(Doctor, WrongUsageIsExitCodeTwo) {
  const auto expect_usage = [](const std::vector<std::string>& arguments, const std::string& message) {
    const Outcome outcome = doctor(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.standard_output, IsEmpty());
    EXPECT_THAT(outcome.standard_error, HasSubstr(message));
  };
  expect_usage({"--require", "cuptii"}, "Did you mean 'cupti'?");
  expect_usage({"--"}, "there is no command after --");
  expect_usage({"--colour"}, "--colour");
  expect_usage({"somewhere"}, "somewhere");
  EXPECT_EQ(doctor({"--json", "/no/such/folder/x.json"}).exit_code, 1);
  EXPECT_THAT(doctor({"--help"}).standard_output,
              AllOf(HasSubstr("Examples:"), HasSubstr("Exit code: 0"),
                    HasSubstr("Sources: nvtx, cupti, nccl, pytorch, scheduling, cpu, nvml.")));
}

TEST(Doctor, RecordSaysInTwoLinesWhyNothingCame) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run({binary("lockstep"), "record", "-o", folder / "run", "--", "env", "-i", "/bin/true"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.standard_error,
              AllOf(HasSubstr("nothing was recorded"), HasSubstr("env -i clears the environment"),
                    HasSubstr("lockstep doctor")));
}

}  // namespace
}  // namespace lockstep::end_to_end
