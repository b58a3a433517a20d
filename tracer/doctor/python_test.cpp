// Which Python a command would run, and what it says.
#include "tracer/doctor/python.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracer/doctor/fake_machine.h"
#include "tracer/doctor/nothing_recorded.h"

namespace lockstep::tracer::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

FakeMachine with_pythons() {
  FakeMachine machine;
  machine.variables["PATH"] = "/env/bin:/usr/bin";
  machine.executables = {"/usr/bin/python3", "/env/bin/python", "/env/bin/torchrun",      "/usr/bin/srun",
                         "/usr/bin/env",     "/usr/bin/bash",   "/opt/py/bin/python3.11", "/jobs/go"};
  machine.files["/env/bin/torchrun"] = "#!/opt/py/bin/python3.11 -E\nimport sys\n";
  machine.files["/jobs/go"] = "#!/usr/bin/env -S python3 -I\n";
  machine.files["/usr/bin/srun"] =
      "\x7f"
      "ELF";
  return machine;
}

TEST(Interpreter, IsTheCommands) {
  const FakeMachine machine = with_pythons();
  const auto path = [&](const std::vector<std::string>& command) {
    return find_interpreter(machine, command).path;
  };
  EXPECT_EQ(path({}), "/usr/bin/python3");
  EXPECT_EQ(path({"python", "train.py"}), "/env/bin/python");
  EXPECT_EQ(path({"torchrun", "--nproc-per-node", "8", "train.py"}), "/opt/py/bin/python3.11");
  EXPECT_EQ(path({"srun", "-n", "8", "python", "train.py"}), "/env/bin/python");
  EXPECT_EQ(path({"/jobs/go"}), "/usr/bin/python3");
  EXPECT_EQ(path({"bash", "run.sh"}), "/usr/bin/python3");
  EXPECT_FALSE(find_interpreter(machine, {"bash", "run.sh"}).from_command);
  EXPECT_TRUE(find_interpreter(machine, {"/jobs/go"}).from_command);
  EXPECT_EQ(find_interpreter(FakeMachine(), {"python"}).path, "");
}

TEST(Interpreter, KeepsTheFlagsThatMatter) {
  const FakeMachine machine = with_pythons();
  const auto flags = [&](const std::vector<std::string>& command) {
    return find_interpreter(machine, command).flags;
  };
  EXPECT_THAT(flags({"python", "train.py", "-I"}), IsEmpty()) << "the script's own";
  EXPECT_THAT(flags({"python", "-Es", "-u", "train.py"}), ElementsAre("-E", "-s"));
  EXPECT_THAT(flags({"python", "-X", "dev", "-I", "-m", "x", "-S"}), ElementsAre("-I"));
  EXPECT_THAT(flags({"python", "-Wignore", "-S", "-c", "x"}), ElementsAre("-S"));
  EXPECT_THAT(flags({"torchrun", "x"}), ElementsAre("-E"));
  EXPECT_THAT(flags({"/jobs/go"}), ElementsAre("-I"));
}

TEST(PythonAnswer, IsReadBehindWhateverWasPrintedBefore) {
  const PythonFacts facts = parse_python_answer(
      "a greeting\nlockstep-doctor {\"version\": \"3.11.2\", \"isolated\": true, \"no_site\": 3, "
      "\"sitecustomize\": \"/x/sitecustomize.py\", \"torch_folder\": null}\n");
  EXPECT_EQ(facts.problem, "");
  EXPECT_EQ(facts.version, "3.11.2");
  EXPECT_TRUE(facts.isolated);
  EXPECT_FALSE(facts.no_site);
  EXPECT_EQ(facts.sitecustomize, "/x/sitecustomize.py");
  EXPECT_EQ(facts.torch_folder, "");
  for (const char* text :
       {"", "lockstep-doctor ", "lockstep-doctor [1]", "lockstep-doctor {\"version\"", "{}"}) {
    EXPECT_NE(parse_python_answer(text).problem, "") << text;
  }
}

TEST(Python, WhatGoesWrongIsSaid) {
  FakeMachine machine = with_pythons();
  machine.answer.started = machine.answer.timed_out = true;
  EXPECT_THAT(ask_python(machine, {}).problem, HasSubstr("did not answer within 20 s"));
  machine.answer = {true, false, 1, "", "Traceback\nImportError: no module\n"};
  EXPECT_THAT(ask_python(machine, {"python", "-I", "x"}).problem,
              HasSubstr("(exit code 1): ImportError: no module"));
  EXPECT_THAT(std::vector(machine.last_command.begin(), machine.last_command.begin() + 3),
              ElementsAre("/env/bin/python", "-I", "-c"));
  EXPECT_THAT(ask_python(FakeMachine(), {}).problem, HasSubstr("no python3"));
}

TEST(TorchVersion, IsReadFromItsFile) {
  const TorchVersion version = parse_torch_version(
      "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda']\n__version__ = "
      "'2.11.0+cu130'\n"
      "debug = False\ncuda: Optional[str] = '13.0'\ngit_version = '70d9'\nhip: Optional[str] = None\n");
  EXPECT_EQ(version.text, "2.11.0+cu130");
  EXPECT_EQ(version.major, 2);
  EXPECT_EQ(version.minor, 11);
  EXPECT_EQ(version.cuda, "13.0");
  EXPECT_EQ(version.hip, "");
  EXPECT_EQ(parse_torch_version("").text, "");
  EXPECT_EQ(parse_torch_version("__version__ = '").text, "");
  EXPECT_EQ(parse_torch_version("__version__ = 'x.y'").major, 0);
  EXPECT_EQ(parse_torch_version("cuda_other = '1'\n").cuda, "");
}

PythonFacts with_torch(const std::string& version_file) {
  PythonFacts python;
  python.version = "3.11.2";
  python.interpreter.path = "/env/bin/python";
  python.torch_folder = "/env/lib/torch";
  python.torch_version_file = version_file;
  return python;
}

TEST(Torch, VersionsAndBuilds) {
  const FakeMachine machine;
  const auto check = [&](const std::string& file) { return look(check_torch, machine, with_torch(file))[0]; };
  EXPECT_EQ(check("__version__ = '2.4.0'\n").state, State::ok);
  EXPECT_EQ(check("__version__ = '2.4.0'\n").finding, "torch 2.4.0 (CPU only)");
  EXPECT_EQ(check("__version__ = '2.3.1'\ncuda = '12.1'\n").state, State::missing);
  EXPECT_EQ(check("__version__ = '3.0.0'\n").state, State::ok);
  EXPECT_EQ(check("__version__ = '2.6.0'\nhip = '6.2'\n").state, State::limited);
  EXPECT_EQ(check("").state, State::limited);
  PythonFacts none;
  none.interpreter.path = "/env/bin/python";
  EXPECT_EQ(look(check_torch, machine, none)[0].state, State::missing);
}

TEST(Hook, RunsUnlessPythonWasToldNotTo) {
  const FakeMachine machine;
  PythonFacts python = with_torch("");
  Checks checks = look(check_python, machine, python);
  ASSERT_THAT(checks, SizeIs(2));
  EXPECT_EQ(checks[1].state, State::ok);
  python.sitecustomize = "/x/sitecustomize.py";
  EXPECT_THAT(look(check_python, machine, python)[1].finding, HasSubstr("after it the one that is there"));
  python.isolated = true;
  checks = look(check_python, machine, python);
  EXPECT_EQ(checks[1].state, State::missing);
  EXPECT_THAT(checks[1].finding, HasSubstr("-I keeps Python"));
  python.problem = "gone";
  EXPECT_THAT(look(check_python, machine, python), SizeIs(1));
  EXPECT_THAT(look(check_torch, machine, python), IsEmpty());
}

// --- commands that can't be recorded ---

TEST(Obstacle, WordsThatLeaveOurEnvironment) {
  const FakeMachine machine = with_pythons();
  const auto reason = [&](const std::vector<std::string>& command) {
    const std::optional<Obstacle> obstacle = find_obstacle(machine, command);
    return obstacle.has_value() ? obstacle->reason : std::string();
  };
  EXPECT_THAT(reason({"ssh", "node", "python"}), HasSubstr("another host"));
  EXPECT_THAT(reason({"/usr/bin/docker", "run", "x"}), HasSubstr("container"));
  EXPECT_THAT(reason({"sudo", "python"}), HasSubstr("clears"));
  EXPECT_THAT(reason({"env", "-i", "python"}), HasSubstr("clears"));
  EXPECT_THAT(reason({"srun", "--export=NONE", "python"}), HasSubstr("clears"));
  EXPECT_EQ(reason({"env", "A=1", "python", "-i"}), "");
  EXPECT_EQ(reason({"srun", "python"}), "");
  EXPECT_EQ(reason({"nothing-of-this-name"}), "");
  EXPECT_EQ(reason({}), "");
}

TEST(Obstacle, StaticPrograms) {
  FakeMachine machine = with_pythons();
  machine.executables.insert("/jobs/train");
  machine.elf["/jobs/train"] = ElfFacts{62, false, false, true, {}};
  EXPECT_THAT(find_obstacle(machine, {"/jobs/train"})->reason, HasSubstr("statically linked"));
  machine.elf["/jobs/train"] = ElfFacts{62, false, true, true, {"libc.so.6"}};
  EXPECT_FALSE(find_obstacle(machine, {"/jobs/train"}).has_value());
}

TEST(Obstacle, ProgramsOfAnotherArchitecture) {
  FakeMachine machine = with_pythons();
  machine.executables.insert("/jobs/train");
  machine.elf["/jobs/train"] = ElfFacts{3, true, false, false, {}};
  EXPECT_THAT(find_obstacle(machine, {"/jobs/train"})->reason, HasSubstr("is a 32-bit program"));
  machine.elf["/jobs/train"] = ElfFacts{22, false, true, true, {}};
  EXPECT_THAT(find_obstacle(machine, {"/jobs/train"})->reason, HasSubstr("built for another processor"));
}

TEST(Obstacle, ProgramsOfAnotherLibc) {
  FakeMachine machine = with_pythons();
  machine.executables.insert("/jobs/train");
  machine.elf["/jobs/train"] = ElfFacts{62, false, true, true, {}, "/lib/ld-musl-x86_64.so.1"};
  machine.elf["/jobs/train"].architecture = 0;  // of whatever machine this is
  EXPECT_THAT(find_obstacle(machine, {"/jobs/train"})->reason, HasSubstr("its libc is musl"));
  for (const char* loader : {"/lib64/ld-linux-x86-64.so.2",
                             "/nix/store/x-glibc-2.40/lib/ld-linux-aarch64.so.1", "/opt/other/loader", ""}) {
    machine.elf["/jobs/train"].interpreter = loader;
    EXPECT_FALSE(find_obstacle(machine, {"/jobs/train"}).has_value()) << loader;
  }
}

TEST(NothingRecorded, IsExplainedInTwoLines) {
  const FakeMachine machine = with_pythons();
  EXPECT_THAT(explain_nothing_recorded(machine, {"ssh", "node", "x"}), SizeIs(2));
  EXPECT_THAT(explain_nothing_recorded(machine, {"python", "-I", "x.py"})[0], HasSubstr("start-up hook"));
  EXPECT_THAT(explain_nothing_recorded(machine, {"python", "x.py"}), IsEmpty());
}

}  // namespace
}  // namespace lockstep::tracer::doctor
