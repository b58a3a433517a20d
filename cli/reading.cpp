#include "cli/reading.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "analyzer/import/rank/communication_patterns.h"

namespace lockstep::cli {

void describe_reading(CLI::App& app, ReadingArguments& arguments) {
  app.add_option(
         "--communication", arguments.communication,
         "Kernels whose name this regular expression is found in communicate, beyond those that are "
         "known; as this operation (all_reduce, send, …) where it is given. @FILE: a file of such lines. "
         "May be repeated")
      ->option_text("REGEX[=OPERATION]|@FILE")
      ->allow_extra_args(false);
  app.add_option("--cycle", arguments.cycle,
                 "Of several profiles of one process (torch.profiler's schedule) only the N-th, from 1 [all]")
      ->option_text("N");
}

Status take_reading(const ReadingArguments& arguments, analyzer::ImportOptions& options) {
  if (!arguments.communication.empty()) {
    auto patterns = analyzer::CommunicationPatterns::parse(arguments.communication);
    if (!patterns.ok()) return Error{"--communication " + patterns.error().message};
    options.communication = std::move(patterns).value();
  }
  if (!arguments.cycle.empty()) {
    int cycle = 0;
    const char* const end = arguments.cycle.data() + arguments.cycle.size();
    const auto parsed = std::from_chars(arguments.cycle.data(), end, cycle);
    if (parsed.ec != std::errc() || parsed.ptr != end || cycle < 1)
      return Error{fmt::format("--cycle '{}': give a number from 1 on", arguments.cycle)};
    options.cycle = cycle;
  }
  return {};
}

}  // namespace lockstep::cli
