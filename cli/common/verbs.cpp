#include "cli/common/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/near_names.h"
#include "base/standard_streams.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view kHelp = "help", kVersion = "version";

std::string help_text(const Program& program) {
  std::string text = fmt::format("{}\n\nUsage: {} VERB [ARGUMENTS]\n\nVerbs:\n", program.about, program.name);
  const auto line = [&](std::string_view name, std::string_view summary) {
    text += fmt::format("  {:<9} {}\n", name, summary);
  };
  for (const Verb& verb : program.verbs) line(verb.name, verb.summary);
  line(kHelp, "Explain a verb");
  line(kVersion, "Print the version");
  return text +
         fmt::format("\nExamples:\n{}\n`{} VERB --help` explains a verb.\n", program.examples, program.name);
}

int print_help(const Program& program) {
  return print_to_stdout(fmt::format("{} help", program.name), help_text(program));
}

int print_version(const Program& program) {
  return print_to_stdout(fmt::format("{} version", program.name),
                         fmt::format("{} {}\n", program.name, LOCKSTEP_VERSION));
}

const Verb* find_verb(const Program& program, std::string_view name) {
  const auto found = std::ranges::find_if(program.verbs, [&](const Verb& verb) { return name == verb.name; });
  return found == program.verbs.end() ? nullptr : &*found;
}

int unknown_verb(const Program& program, const std::string& word) {
  std::vector<std::string> names{std::string(kHelp), std::string(kVersion)};
  for (const Verb& verb : program.verbs) names.emplace_back(verb.name);
  const std::optional<std::string> near = nearest_name(word, names);
  tell(fmt::format("{}: there is no verb '{}'.{}\nSee {} --help.\n", program.name, word,
                   near ? " Did you mean '" + *near + "'?" : "", program.name));
  return kUsage;
}

// "help", or "help VERB".
int help(const Program& program, int argc, char** argv) {
  if (argc < 2 || argv[1] == kHelp) return print_help(program);
  if (argv[1] == kVersion) return print_version(program);
  const Verb* verb = find_verb(program, argv[1]);
  if (verb == nullptr) return unknown_verb(program, argv[1]);
  std::string name = verb->name, flag = "--help";
  std::array<char*, 3> arguments{name.data(), flag.data(), nullptr};
  return verb->run(2, arguments.data());
}

int version(const Program& program, int argc, char** argv) {
  if (argc <= 1) return print_version(program);
  tell(fmt::format("{} version: takes no arguments, got {}\n", program.name, argv[1]));
  return kUsage;
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  if (argc < 2) {
    tell(help_text(program));
    return kUsage;
  }
  const std::string word = argv[1];
  if (word == "--help" || word == "-h") return print_help(program);
  if (word == "--version" || word == "-V") return print_version(program);
  if (word == kHelp) return help(program, argc - 1, argv + 1);
  if (word == kVersion) return version(program, argc - 1, argv + 1);
  const Verb* verb = find_verb(program, word);
  return verb == nullptr ? unknown_verb(program, word) : verb->run(argc - 1, argv + 1);
}

}  // namespace lockstep::cli
