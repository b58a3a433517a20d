// `lockstep`: finds the verb and hands over.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/near_names.h"
#include "base/standard_streams.h"
#include "cli/memory_limit/memory_limit.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/record.h"
#include "cli/verb.h"

namespace lockstep::cli {
namespace {

int run_help(int argc, char** argv);
int run_version(int argc, char** argv) {
  if (argc > 1) {
    tell(fmt::format("lockstep version: takes no arguments, got {}\n", argv[1]));
    return kUsage;
  }
  return print_to_stdout("lockstep version", fmt::format("lockstep {}\n", LOCKSTEP_VERSION));
}

constexpr std::array kVerbs{
    Verb{"record", "Run a command and record every process of it", run_record},
    Verb{"collect", "Join runs that were recorded on several hosts' disks into one", run_collect},
    Verb{"analyze", "Say why the ranks wait: overlap, waiting, blame, one cause per nanosecond", run_analyze},
    Verb{"check", "Hold the figures of runs to a baseline or to bounds: the gate for CI", run_check},
    Verb{"baseline", "Keep the figures of runs in a file, for check", run_baseline},
    Verb{"explain", "Say what a finding means, how it is found, and what to do about it", run_explain},
    Verb{"view", "Look at a run on a timeline", run_view},
    Verb{"export", "Convert a run for Perfetto, Chrome tracing, SQLite or spreadsheets", run_export},
    Verb{"doctor", "Say what can be recorded on this machine, and what to do about the rest", run_doctor},
    Verb{"train", "Train the reference transformer on several ranks, to have something to record", run_train},
    Verb{"help", "Explain a verb", run_help},
    Verb{"version", "Print the version", run_version},
};

std::string help_text() {
  std::string text =
      "lockstep finds out why the ranks of a distributed training job wait.\n\n"
      "Usage: lockstep VERB [ARGUMENTS]\n\nVerbs:\n";
  for (const Verb& verb : kVerbs) text += fmt::format("  {:<9} {}\n", verb.name, verb.summary);
  return text +
         "\nExamples:\n"
         "  lockstep record -o run -- torchrun --nproc-per-node 8 train.py\n"
         "  lockstep analyze run\n"
         "  lockstep view run\n"
         "  lockstep export run --format perfetto -o run.pftrace     then open it in ui.perfetto.dev\n"
         "\n`lockstep VERB --help` explains a verb.\n";
}

int print_help() {
  return print_to_stdout("lockstep help", help_text());
}

const Verb* find_verb(std::string_view name) {
  const auto* verb =
      std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& v) { return name == v.name; });
  return verb == kVerbs.end() ? nullptr : verb;
}

int unknown_verb(const std::string& word) {
  std::vector<std::string> names;
  names.reserve(kVerbs.size());
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  const std::optional<std::string> near = nearest_name(word, names);
  tell(fmt::format("lockstep: there is no verb '{}'.{}\nSee lockstep --help.\n", word,
                   near ? " Did you mean '" + *near + "'?" : ""));
  return kUsage;
}

int run_help(int argc, char** argv) {
  if (argc < 2) return print_help();
  const Verb* verb = find_verb(argv[1]);
  if (verb == nullptr) return unknown_verb(argv[1]);
  if (verb->run == run_help) return print_help();
  std::string name = verb->name, flag = "--help";
  std::array<char*, 3> arguments{name.data(), flag.data(), nullptr};
  return verb->run(2, arguments.data());
}

int run(int argc, char** argv) {
  if (argc < 2) {
    tell(help_text());
    return kUsage;
  }
  const std::string word = argv[1];
  if (word == "--help" || word == "-h") return run_help(1, argv);
  if (word == "--version" || word == "-V") return run_version(1, argv);
  const Verb* verb = find_verb(word);
  if (verb == nullptr) return unknown_verb(word);
  const int code = verb->run(argc - 1, argv + 1);
  if (const std::string exceeded = limit_exceeded(); !exceeded.empty())
    tell(fmt::format("lockstep {}: warning: {}\n", word, exceeded));
  return code;
}

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  lockstep::hold_closed_streams();
  // No library throws; this is for memory running out and for what a library underneath may throw after all.
  try {
    return lockstep::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    lockstep::tell("lockstep: " + lockstep::cli::why_out_of_memory() + "\n");
  } catch (const std::exception& error) {
    lockstep::tell("lockstep: unexpected error: ");
    lockstep::tell(error.what());
    lockstep::tell("\n");
  }
  return lockstep::cli::kFailure;
}
