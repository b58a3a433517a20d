#include "tracer/doctor/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <string_view>

#include "base/near_names.h"
#include "base/own_program.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/common/terminal.h"
#include "cli/recording/verbs.h"
#include "tracer/doctor/local_machine.h"
#include "tracer/protocol/source_table.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::cli {
namespace {

constexpr const char kExamples[] =
    "Examples:\n"
    "  lockstep doctor                                      this machine, this shell\n"
    "  lockstep doctor -- torchrun --nproc-per-node 8 t.py  with the Python that the job would have\n"
    "  lockstep doctor -o /scratch/run                      where the run would be written\n"
    "  srun -N 4 lockstep doctor --require cupti,nccl -q    in a batch script, before the job: exit code "
    "only\n"
    "  lockstep doctor --json - | jq '.sources'             for a program (lockstep.doctor/1, "
    "docs/doctor.md)\n"
    "\n"
    "Sources: {}. Nothing is changed; the job is not started.\n"
    "\n"
    "Exit code: 0 nothing that was asked for is missing; 1 a source that --require names is missing; 2 wrong usage.\n";

struct Arguments {
  std::string output = ".", json, color = "auto";
  std::vector<std::string> require;
  bool quiet = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("-o,--output", arguments.output, "The folder that would hold the run [the current one]")
      ->option_text("RUN");
  app.add_option("--require", arguments.require,
                 "Sources that must be there, as in cupti,nccl; else exit code 1")
      ->delimiter(',')
      ->option_text("SOURCES");
  app.add_option("--json", arguments.json,
                 "Write everything as JSON to FILE; - is stdout, and then nothing else is")
      ->option_text("FILE");
  describe_color(app, arguments.color);
  app.add_flag("-q,--quiet", arguments.quiet, "Print nothing: for the exit code, or with --json FILE");
  app.footer(fmt::format(kExamples, fmt::join(tracer::kSourceNames, ", ")));
}

int wrong(const std::string& message) {
  fail("doctor", Error{message});
  return kUsage;
}

Status write_json(const std::string& text, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return Error{fmt::format("--json {}: {}", path, std::strerror(errno))};
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return {};
  return Error{fmt::format("--json {}: {}", path, std::strerror(errno))};
}

}  // namespace

int run_doctor(int argc, char** argv) {
  // What follows "--" is the command, which has options of its own.
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  const std::vector<std::string> command(dashes == end ? end : dashes + 1, end);
  CLI::App app(
      "Says what can be recorded on this machine and in this environment, source by source, why the rest "
      "can't,\n"
      "and what to do about it.",
      "lockstep doctor");
  Arguments arguments;
  describe(app, arguments);
  if (const auto exit_code = parse(app, static_cast<int>(dashes - argv), argv)) return *exit_code;
  if (dashes != end && command.empty()) return wrong("there is no command after --");
  for (const std::string& source : arguments.require) {
    if (tracer::find_source(source) != nullptr) continue;
    const std::vector<std::string> names(tracer::kSourceNames.begin(), tracer::kSourceNames.end());
    const std::optional<std::string> near = nearest_name(source, names);
    return wrong(fmt::format("--require {}: there is no such source; there are {}{}", source,
                             fmt::join(names, ", "), near ? ". Did you mean '" + *near + "'?" : ""));
  }

  std::error_code error;
  const std::filesystem::path self = own_program(error);
  const Result<std::filesystem::path> library = tracer::record::find_injection_library(self);
  const tracer::doctor::LocalMachine machine;
  tracer::doctor::Situation situation{
      machine, command, arguments.output,
      library.ok() ? Result<std::string>(library.value().string()) : Result<std::string>(library.error())};
  ProgressLine progress(!arguments.quiet);
  const tracer::doctor::Examination examination = tracer::doctor::examine(
      std::move(situation), arguments.require, [&](const std::string& what) { progress.show(what); });
  progress.clear();

  Status status;
  if (arguments.json == "-") {
    status = write_to_stdout([&](std::ostream& out) { out << to_json(examination); });
  } else {
    if (!arguments.json.empty()) status = write_json(to_json(examination), arguments.json);
    if (status.ok() && !arguments.quiet) {
      const bool colored = page_options_for_stdout(arguments.color).color != analyzer::ColorDepth::none;
      status = write_to_stdout([&](std::ostream& out) { out << to_text(examination, {colored}); });
    }
  }
  if (!status.ok()) return fail("doctor", status.error());
  return examination.unmet.empty() ? kSuccess : kFailure;
}

}  // namespace lockstep::cli
