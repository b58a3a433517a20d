// The `lockstep` command as people and scripts meet it: help, wrong usage, exit codes, and what goes to which
// stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/export/exporters.h"
#include "analyzer/import/importers.h"
#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Outcome lockstep(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) {
  arguments.insert(arguments.begin(), binary("lockstep"));
  return run(arguments, environment);
}

Outcome shell(const std::string& command) {
  return run({"/bin/sh", "-c", command});
}

class Cli : public testing::Test {
 protected:
  void SetUp() override { write_two_ranks(traces_); }
  const TemporaryFolder folder_;
  const std::string traces_ = folder_ / "traces";
};

TEST_F(Cli, HelpListsTheVerbsAndExamples) {
  const Outcome help = lockstep({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* verb : {"record", "collect", "analyze", "check", "baseline", "explain", "view", "export",
                           "doctor", "train", "help", "version"}) {
    EXPECT_THAT(help.standard_output, HasSubstr(std::string("\n  ") + verb + " "));
  }
  EXPECT_THAT(help.standard_output, HasSubstr("Examples:"));
  EXPECT_EQ(lockstep({"help"}).standard_output, help.standard_output);
  for (const char* verb : {"analyze", "baseline", "check", "collect", "explain", "export"}) {
    const Outcome of_verb = lockstep({verb, "--help"});
    EXPECT_EQ(of_verb.exit_code, 0);
    EXPECT_THAT(of_verb.standard_output, AllOf(HasSubstr("Examples:"), HasSubstr("Exit code: 0")));
    EXPECT_EQ(lockstep({"help", verb}).standard_output, of_verb.standard_output);
  }
  EXPECT_THAT(lockstep({"version"}).standard_output, StartsWith("lockstep "));
}

TEST_F(Cli, HelpNamesEveryKindOfInput) {
  const std::string help = lockstep({"analyze", "--help"}).standard_output;
  for (const analyzer::Importer* const importer : analyzer::all_importers()) {
    for (const analyzer::ImportExample& example : importer->examples) {
      EXPECT_THAT(help, HasSubstr("\n  lockstep analyze " + std::string(example.arguments) + " "));
      EXPECT_THAT(help, HasSubstr("  " + std::string(example.meaning) + "\n"));
    }
  }
}

TEST_F(Cli, HelpNamesEveryFormat) {
  const std::string help = lockstep({"export", "--help"}).standard_output;
  const std::string refused = lockstep({"export", traces_, "--format", "pdf"}).standard_error;
  for (const analyzer::Exporter* const exporter : analyzer::all_exporters()) {
    EXPECT_THAT(help, HasSubstr("\n  " + std::string(exporter->name) + " "));
    EXPECT_THAT(help, HasSubstr("  " + std::string(exporter->description) + "\n"));
    EXPECT_THAT(refused, HasSubstr(std::string(exporter->name)));
  }
}

TEST_F(Cli, WrongUsageIsExitCodeTwoAndSaysWhatIsWrong) {
  const auto expect_usage = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const Outcome outcome = lockstep(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.standard_output, IsEmpty());
    EXPECT_THAT(outcome.standard_error, HasSubstr(message));
  };
  expect_usage({}, "Verbs:");
  expect_usage({"anlyze"}, "Did you mean 'analyze'?");
  expect_usage({"exprot", "x"}, "Did you mean 'export'?");
  expect_usage({"frobnicate"}, "there is no verb 'frobnicate'.\n");
  expect_usage({"help", "frobnicate"}, "there is no verb 'frobnicate'");
  expect_usage({"version", "now"}, "now");
  expect_usage({"explain", "hots_bound"},
               "there is no finding 'hots_bound'. Did you mean 'host_bound'? `lockstep explain` lists them.");
  expect_usage({"explain", "--markdown", "hang"}, "give no codes with it");
  expect_usage({"explain", "--pages", "pages", "hang"}, "give neither codes nor --markdown with it");
  expect_usage({"analyze"}, "PATHS");
  expect_usage({"analyze", traces_, "--jsn", "x"}, "--jsn");
  expect_usage({"analyze", traces_, "--color", "blue"}, "blue");
  expect_usage({"analyze", traces_, "--width", "7"}, "--width");
  expect_usage({"analyze", traces_, "--steps", "5:3"},
               "--steps 5:3: the first step is greater than the last");
  expect_usage({"analyze", traces_, "--steps", "abc"}, "--steps abc: give a step or a range of steps");
  expect_usage({"analyze", traces_, "--steps", ":"}, "--steps :");
  expect_usage({"analyze", traces_, "--rows", "many"}, "--rows many: give a number from 1 on, or all");
  expect_usage({"analyze", traces_, "--rows", "0"}, "--rows 0: give a number from 1 on, or all");
  expect_usage({"analyze", traces_, "--ranks", "all"}, "--ranks all: give ranks and ranges of ranks");
  expect_usage({"analyze", traces_, "--ranks", "0,"}, "--ranks 0,: give ranks");
  expect_usage({"analyze", traces_, "--ranks", "0:-3"}, "--ranks 0:-3: give ranks");
  expect_usage({"analyze", traces_, "--ranks", "0,5:3"}, "the first rank of 5:3 is greater than the last");
  expect_usage({"analyze", traces_, "--group", ""}, "--group: give the name of a process group");
  expect_usage({"analyze", traces_, "--collectives", "-1"}, "--collectives");
  expect_usage({"export", traces_}, "--format");
  expect_usage({"export", traces_, "--format", "pdf"}, "pdf");
  expect_usage({"export", traces_, "--format", "sqlite", "-o", "-"}, "can't go to stdout");
}

TEST_F(Cli, InputThatCanNotBeReadIsExitCodeOneAndNamesIt) {
  const std::string empty = folder_ / "empty";
  fs::create_directory(empty);
  std::ofstream(folder_ / "text.json") << "hello";
  for (const std::string& path : {folder_ / "missing", empty, folder_ / "text.json"}) {
    const std::vector<std::vector<std::string>> uses{{"analyze", path},
                                                     {"export", path, "--format", "chrome", "-o", "-"}};
    for (const auto& arguments : uses) {
      const Outcome outcome = lockstep(arguments);
      EXPECT_EQ(outcome.exit_code, 1) << path;
      EXPECT_THAT(outcome.standard_error, HasSubstr(path));
      EXPECT_THAT(outcome.standard_output, IsEmpty());
    }
  }
}

TEST_F(Cli, AnalyzePrintsTheReport) {
  const Outcome outcome = lockstep({"analyze", traces_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.standard_error, IsEmpty());
  EXPECT_THAT(outcome.standard_output, HasSubstr("2 ranks"));
  EXPECT_THAT(outcome.standard_output, HasSubstr("300 µs of 1.30 ms of communication is waiting (23.1 %)"));
  EXPECT_THAT(outcome.standard_output,
              HasSubstr("In the one step looked at the others wait for rank 1 (300 µs in 1 collective)."));
  EXPECT_THAT(outcome.standard_output, Not(HasSubstr("\x1b")));  // stdout is no terminal
}

// What a report finds, `explain` explains.
TEST_F(Cli, FindingsAreExplained) {
  const json report = json::parse(lockstep({"analyze", traces_, "--json", "-"}).standard_output);
  std::vector<std::string> arguments{"explain"};
  for (const json& finding : report.at("findings")) arguments.push_back(finding.at("code"));
  ASSERT_GT(arguments.size(), 1U);
  const Outcome outcome = lockstep(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    EXPECT_THAT(outcome.standard_output, HasSubstr(arguments[i]));
  EXPECT_THAT(lockstep({"analyze", traces_}).standard_output, HasSubstr("lockstep explain " + arguments[1]));
  EXPECT_THAT(lockstep({"explain"}).standard_output, AllOf(HasSubstr("host_bound: "), HasSubstr("hang: ")));
  const std::filesystem::path pages = folder_.path() / "some/pages";
  EXPECT_EQ(lockstep({"explain", "--pages", pages.string()}).exit_code, 0);
  EXPECT_THAT(test::read_whole_file(pages / "hang.md"), HasSubstr("# `hang`"));
  EXPECT_THAT(test::read_whole_file(pages / "README.md"), HasSubstr("| [`hang`](hang.md) | "));
}

TEST_F(Cli, JsonToStdoutIsJsonAndNothingElse) {
  const Outcome outcome = lockstep({"analyze", traces_, "--json", "-"});
  EXPECT_EQ(outcome.exit_code, 0);
  const json document = json::parse(outcome.standard_output);
  EXPECT_EQ(document["schema"], "lockstep.report/2");
  EXPECT_EQ(document["blame"][0]["rank"], 1);
  EXPECT_EQ(document["blame"][0]["blame_ns"], 300'000);
  EXPECT_EQ(document["ranks"][0]["collective_wait_ns"], 300'000);

  const std::string path = folder_ / "report.json";
  EXPECT_EQ(lockstep({"analyze", traces_, "--json", path, "--quiet"}).standard_output, "");
  EXPECT_EQ(json::parse(test::read_whole_file(path)), document);
  // Again: a report replaces the one before it.
  EXPECT_EQ(lockstep({"analyze", traces_, "--json", path}).exit_code, 0);
}

TEST_F(Cli, AReportThatCanNotBeWrittenIsExitCodeOneAndNamesTheFile) {
  const std::string path = folder_ / "no/such/folder/report.json";
  const Outcome outcome = lockstep({"analyze", traces_, "--json", path});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, HasSubstr(path));
  EXPECT_THAT(outcome.standard_output, HasSubstr("communication is waiting"));  // what can be said is said
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  const Outcome full = shell(binary("lockstep") + " analyze '" + traces_ + "' > /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.standard_error, HasSubstr("cannot write to stdout: No space left on device"));
}

TEST(Help, ThatCanNotBeWrittenIsExitCodeOne) {
  for (const char* arguments : {"--help", "help", "help analyze", "analyze --help", "record --help",
                                "help help", "--version", "version"}) {
    const Outcome closed = shell(binary("lockstep") + " " + arguments + " >&-");
    EXPECT_EQ(closed.exit_code, 1) << arguments;
    EXPECT_THAT(closed.standard_error, HasSubstr("cannot write to stdout: Bad file descriptor")) << arguments;
    if (!fs::exists("/dev/full")) continue;
    const Outcome full = shell(binary("lockstep") + " " + arguments + " > /dev/full");
    EXPECT_EQ(full.exit_code, 1) << arguments;
    EXPECT_THAT(full.standard_error, HasSubstr("cannot write to stdout: No space left on device"))
        << arguments;
  }
}

// The reader closes the pipe first, then lets lockstep begin: every write of it finds nobody there.
Outcome with_reader_gone(const std::string& folder, const std::string& before, const std::string& command) {
  const std::string fifo = folder + "/go";
  return shell("rm -f '" + fifo + "'; mkfifo '" + fifo + "'; { " + before + " read go < '" + fifo + "'; " +
               command + "; echo \"exit $?\" >&2; } | { exec <&-; echo > '" + fifo + "'; }");
}

TEST_F(Cli, AReaderThatHasSeenEnoughIsNoError) {
  for (const char* verb : {"analyze", "export -q -f chrome -o -"}) {
    const std::string command = binary("lockstep") + " " + verb + " '" + traces_ + "'";
    // With SIGPIPE as the shell leaves it, the signal ends lockstep without a word; where it is ignored,
    // EPIPE does.
    EXPECT_EQ(with_reader_gone(folder_.path().string(), "", command).standard_error, "exit 141\n");
    EXPECT_EQ(with_reader_gone(folder_.path().string(), "trap '' PIPE;", command).standard_error, "exit 0\n");
  }
}

// What somebody else named can't speak to the terminal.
TEST_F(Cli, WidthColourAndAsciiAreAsAsked) {
  const auto longest_line = [](const std::string& text) {
    std::size_t longest = 0, length = 0;
    for (const char c : text) {
      length = c == '\n' ? 0 : length + 1;
      longest = std::max(longest, length);
    }
    return longest;
  };
  const std::string narrow = lockstep({"analyze", traces_, "--ascii"}, {"COLUMNS=60"}).standard_output;
  EXPECT_LE(longest_line(narrow), 60u);
  const std::string wide =
      lockstep({"analyze", traces_, "--ascii", "--width", "140"}, {"COLUMNS=60"}).standard_output;
  EXPECT_GT(longest_line(wide), 100u);
  for (const char c : wide) EXPECT_LT(static_cast<unsigned char>(c), 128);

  EXPECT_THAT(lockstep({"analyze", traces_, "--color", "always"}).standard_output, HasSubstr("\x1b["));
  EXPECT_THAT(lockstep({"analyze", traces_, "--color", "always"}, {"COLORTERM=truecolor"}).standard_output,
              HasSubstr("\x1b[38;2;"));
  EXPECT_THAT(lockstep({"analyze", traces_, "--color", "never"}).standard_output, Not(HasSubstr("\x1b")));
}

TEST_F(Cli, StepsAreSelected) {
  const Outcome one = lockstep({"analyze", traces_, "--steps", "7"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_THAT(one.standard_output, HasSubstr("step 7 only"));
  const Outcome none = lockstep({"analyze", traces_, "--steps", "8:"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.standard_error, HasSubstr("7"));
}

// One rank's time by cause sums to the range, and the range to its halves.
TEST_F(Cli, OneStretchOfTimeIsMeasured) {
  const auto ranks_of = [&](const std::string& range) {
    const Outcome outcome = lockstep({"analyze", traces_, "--range", range, "--json", "-"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    const nlohmann::json document = nlohmann::json::parse(outcome.standard_output);
    EXPECT_EQ(document["schema"], "lockstep.range/2");
    return document["ranks"];
  };
  const nlohmann::json whole = ranks_of("0:2ms"), first = ranks_of("0:700us"), second = ranks_of("700us:2ms");
  ASSERT_FALSE(whole.empty());
  for (std::size_t rank = 0; rank < whole.size(); ++rank) {
    std::int64_t sum = 0;
    for (const auto& [cause, ns] : whole[rank]["partition"].items()) {
      sum += ns.get<std::int64_t>();
      EXPECT_EQ(ns.get<std::int64_t>(), first[rank]["partition"][cause].get<std::int64_t>() +
                                            second[rank]["partition"][cause].get<std::int64_t>());
    }
    EXPECT_EQ(sum, whole[rank]["window_ns"].get<std::int64_t>());
    EXPECT_EQ(sum, 1'000'000) << "the whole window, of a range that goes on beyond";
    EXPECT_EQ(first[rank]["window_ns"], 700'000) << "all of a range within it";
  }
  EXPECT_THAT(lockstep({"analyze", traces_, "--range", "0:2ms"}).standard_output, HasSubstr("range"));
  EXPECT_EQ(lockstep({"analyze", traces_, "--range", "2ms:1ms"}).exit_code, 2);
  EXPECT_EQ(lockstep({"analyze", traces_, "--range", "0:1ms", "--steps", "1"}).exit_code, 2);
}

TEST_F(Cli, RanksAndGroupsAreSelected) {
  const Outcome one = lockstep({"analyze", traces_, "--ranks", "1", "--json", "-"});
  EXPECT_EQ(one.exit_code, 0) << one.standard_error;
  const json report = json::parse(one.standard_output);
  ASSERT_EQ(report.at("ranks").size(), 1U);
  EXPECT_EQ(report.at("ranks").at(0).at("rank"), 1);
  EXPECT_EQ(report.at("run").at("ranks_present").size(), 2U) << "what there is stays said";
  EXPECT_THAT(lockstep({"analyze", traces_, "--ranks", "0-1"}).standard_output, HasSubstr("ranks 0-1 only"));
  const Outcome none = lockstep({"analyze", traces_, "--ranks", "0,77"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.standard_error, HasSubstr("rank 77: it has no trace; 2 ranks have, from 0 to 1"));
  const Outcome group = lockstep({"analyze", traces_, "--group", "nobody's"});
  EXPECT_EQ(group.exit_code, 1);
  EXPECT_THAT(group.standard_error, HasSubstr("group \"nobody's\": "));
}

TEST_F(Cli, ExportsEveryFormatAndOverwritesOnlyByForce) {
  const auto output_of = [&](const analyzer::Exporter& exporter) {
    return folder_ / ("a" + std::string(exporter.ending));
  };
  for (const analyzer::Exporter* const exporter : analyzer::all_exporters()) {
    const std::string output = output_of(*exporter);
    const std::vector<std::string> arguments{"export", traces_, "--format", std::string(exporter->name),
                                             "-o",     output};
    const Outcome written = lockstep(arguments);
    ASSERT_EQ(written.exit_code, 0) << written.standard_error;
    EXPECT_THAT(written.standard_output, HasSubstr("wrote " + output));
    const fs::path file =
        exporter->file_in_folder.empty() ? fs::path(output) : fs::path(output) / exporter->file_in_folder;
    const std::string content = test::read_whole_file(file);
    EXPECT_FALSE(content.empty());

    const Outcome refused = lockstep(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.standard_error, AllOf(HasSubstr(output), HasSubstr("exists"), HasSubstr("--force")));
    std::vector<std::string> forced = arguments;
    forced.push_back("--force");
    EXPECT_EQ(lockstep(forced).exit_code, 0);
    EXPECT_EQ(test::read_whole_file(file), content) << "not the same twice: " << exporter->name;
  }
  EXPECT_THAT(test::read_whole_file(output_of(*analyzer::find_exporter("chrome"))),
              HasSubstr(R"("gemm \"a\\b\"")"));
  const Outcome piped = lockstep({"export", traces_, "--format", "csv", "-o", "-"});
  EXPECT_THAT(piped.standard_output, StartsWith("rank,activity,lane,name,class,"));
  const fs::path tables = output_of(*analyzer::find_exporter("csv"));
  EXPECT_EQ(piped.standard_output, test::read_whole_file(tables / "activities.csv"));
}

TEST_F(Cli, ExportsToANameOfItsOwnWithoutOne) {
  const Outcome outcome =
      shell("cd '" + folder_.path().string() + "' && '" + binary("lockstep") + "' export traces/ -f chrome");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_NO_THROW(json::parse(test::read_whole_file(folder_ / "traces.chrome.json")));
}

TEST_F(Cli, AProgramThatIsNotBuiltIsSaidSo) {
  const std::string alone = folder_ / "lockstep";
  fs::copy_file(binary("lockstep"), alone);
  for (const char* verb : {"view", "train"}) {
    const Outcome outcome = run({alone, verb});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.standard_error, HasSubstr("lockstep-" + std::string(verb) + " is not there"));
  }
  // 1 of check says that a figure is worse.
  for (const auto& [verb, exit_code] : {std::pair{"analyze", 1}, std::pair{"check", 2}}) {
    const Outcome outcome = run({alone, verb, "run"});
    EXPECT_EQ(outcome.exit_code, exit_code);
    EXPECT_THAT(outcome.standard_error, HasSubstr("lockstep-analyze is not there"));
  }
}

TEST_F(Cli, WhatReadsRunsIsWholeByItself) {
  const std::string alone = folder_ / "lockstep-analyze";
  fs::copy_file(binary("lockstep-analyze"), alone);
  EXPECT_EQ(run({alone, "analyze", folder_ / "traces"}).standard_output,
            run({binary("lockstep"), "analyze", folder_ / "traces"}).standard_output);
  const Outcome help = run({alone, "help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.standard_output, AllOf(HasSubstr("  check "), Not(HasSubstr("  record "))));
  EXPECT_THAT(run({alone, "chekc"}).standard_error, HasSubstr("Did you mean 'check'?"));
}

TEST_F(Cli, ViewAndTrainRunTheProgramBesideLockstepWithTheirArguments) {
  const std::string alone = folder_ / "lockstep", sibling = folder_ / "lockstep-view";
  fs::copy_file(binary("lockstep"), alone);
  std::ofstream(sibling) << "#!/bin/sh\necho \"seen: $1 $2\"\nexit 5\n";
  fs::permissions(sibling, fs::perms::owner_all);
  const Outcome outcome = run({alone, "view", "a b", "--x"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.standard_output, "seen: a b --x\n");
  EXPECT_EQ(run({alone, "view"}).standard_output, "seen:  \n") << "without a run: the welcome page";
}

}  // namespace
}  // namespace lockstep::end_to_end
