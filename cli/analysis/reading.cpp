#include "cli/analysis/reading.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "analyzer/import/rank/communication_patterns.h"
#include "base/numbers.h"
#include "cli/analysis/memory_limit/memory_limit.h"
#include "tracer/protocol/plan.h"

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
  app.add_option("--memory", arguments.memory,
                 "Take no more memory than about this, e.g. 4G: what does not fit lies in a file meanwhile. "
                 "Slower; the result is the same [no limit]")
      ->option_text("SIZE");
  app.add_option(
         "--scratch", arguments.scratch,
         "With --memory: make that file in FOLDER, on a local disk; it is gone when lockstep ends [TMPDIR, "
         "else /var/tmp]")
      ->option_text("FOLDER");
}

namespace {

Status take_memory(const ReadingArguments& arguments) {
  if (!arguments.memory) {
    if (!arguments.scratch) return {};
    return Error{fmt::format("--scratch {}: it is for --memory SIZE; give both", *arguments.scratch)};
  }
  constexpr std::uint64_t kMegabyte = 1'000'000;
  const std::optional<std::uint64_t> bytes = tracer::control::parse_size(*arguments.memory, kMegabyte);
  if (!bytes)
    return Error{
        fmt::format("--memory '{}': give a size such as 4G, 512MB or 8GiB; a number alone is in megabytes",
                    *arguments.memory)};
  if (arguments.scratch && arguments.scratch->empty()) return Error{"--scratch '': give a folder"};
  return limit_memory(*bytes, arguments.scratch.value_or(""));
}

}  // namespace

Status take_reading(const ReadingArguments& arguments, analyzer::ImportOptions& options) {
  if (!arguments.communication.empty()) {
    auto patterns = analyzer::CommunicationPatterns::parse(arguments.communication);
    if (!patterns.ok()) return Error{"--communication " + patterns.error().message};
    options.communication = std::move(patterns).value();
  }
  if (!arguments.cycle.empty()) {
    const auto cycle = parse_number<int>(arguments.cycle, 1);
    if (!cycle) return Error{fmt::format("--cycle '{}': give a number from 1 on", arguments.cycle)};
    options.cycle = *cycle;
  }
  return take_memory(arguments);
}

}  // namespace lockstep::cli
