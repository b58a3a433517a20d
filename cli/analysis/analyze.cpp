#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <ostream>
#include <utility>

#include "analyzer/html/html.h"
#include "analyzer/import/importers.h"
#include "analyzer/report/json.h"
#include "analyzer/report/range_report.h"
#include "analyzer/report/range_text.h"
#include "analyzer/report/text.h"
#include "analyzer/restrict_report.h"
#include "analyzer/steady_view.h"
#include "cli/analysis/load.h"
#include "cli/analysis/reading.h"
#include "cli/analysis/selection.h"
#include "cli/analysis/verbs.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/common/terminal.h"

namespace lockstep::cli {
namespace {

constexpr const char* kOwnKernelsExample =
    "  lockstep analyze run --communication '^my_ring_=all_reduce'   kernels of your own that communicate\n";
constexpr const char* kMoreExamples =
    "  lockstep analyze traces/ --steps 3:5          a folder of them; three steps only\n"
    "  lockstep analyze run --all-steps              warm-up, checkpoints and evaluation too\n"
    "  lockstep analyze run --ranks 0:7 --group dp   of these ranks and this group\n"
    "  lockstep analyze run --json report.json       the same findings for a program (lockstep.report/2)\n"
    "  lockstep analyze run --json - | jq .findings\n"
    "  lockstep analyze run --html report.html       one page to look at and to send, with filters\n"
    "  lockstep analyze run --memory 4G              a job that is larger than this machine's memory\n"
    "\n"
    "Exit code: 0 analysed; 1 the input could not be read, has none of the steps asked for, or the report\n"
    "could not be written; 2 wrong usage.\n";

// What can be given, as the importers say it: those of ranks, or those whose files are read beside them.
std::string examples_of_inputs(bool of_ranks) {
  std::string lines;
  for (const analyzer::Importer* importer : analyzer::all_importers()) {
    if ((importer->read != nullptr) != of_ranks) continue;
    for (const analyzer::ImportExample& example : importer->examples)
      lines += fmt::format("  lockstep analyze {:<27}  {}\n", example.arguments, example.meaning);
  }
  return lines;
}

struct Arguments {
  std::vector<std::string> paths;
  std::string json, html, steps, ranks, group, rows, collectives = "8";
  std::string clocks = "auto";
  std::string range;
  ReadingArguments reading;
  TextArguments text;
  bool all_steps = false, skip_warm_up = false, layers = false, quiet = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("PATHS", arguments.paths, "A run folder, trace files, or a folder of trace files")
      ->required();
  app.add_option("--json", arguments.json,
                 "Write the report as JSON to FILE; - is stdout, and then nothing else is printed")
      ->option_text("FILE");
  app.add_option(
         "--html", arguments.html,
         "Write the report as one web page to FILE: nothing else is needed to look at it; - is stdout")
      ->option_text("FILE");
  app.add_option("--steps", arguments.steps, "Only these steps: N, A:B, A: or :B (both ends included)")
      ->option_text("A:B");
  app.add_option("--range", arguments.range,
                 "Every rank's time between two times since the run's begin, e.g. 1.5ms:3ms, and nothing "
                 "else; with --json as lockstep.range/2")
      ->option_text("A:B")
      ->excludes("--steps")
      ->excludes("--html");
  app.add_flag("--all-steps", arguments.all_steps,
               "All that was recorded counts. Without it: the steady steps alone, not warm-up, compilation, "
               "checkpoints and evaluation")
      ->excludes("--steps");
  app.add_flag("--skip-warmup", arguments.skip_warm_up, "What is done anyway, unless --all-steps is given")
      ->excludes("--all-steps");
  app.add_option(
         "--ranks", arguments.ranks,
         "Only these ranks, and what they took part in: 3, 0,4 or 0:3,8. Findings are of the whole job")
      ->option_text("LIST");
  app.add_option("--group", arguments.group, "Only the collectives of the process group of this name")
      ->option_text("NAME");
  app.add_option(
         "--clocks", arguments.clocks,
         "auto: one a host, put onto one; rank: each rank has its own; recorded: leave the times as they "
         "are [auto]")
      ->check(CLI::IsMember({"auto", "rank", "recorded"}))
      ->option_text("WHOSE");
  describe_reading(app, arguments.reading);
  app.add_option("--rows", arguments.rows, "Ranks to list; the most telling first [all up to 16, else 10]")
      ->option_text("N|all");
  app.add_option("--collectives", arguments.collectives, "Collectives to list; the most waited in first [8]")
      ->option_text("N|all");
  app.add_flag("--layers", arguments.layers,
               "List the time of each layer's passes, where the program told them");
  describe_text(app, arguments.text);
  app.add_flag("-q,--quiet", arguments.quiet,
               "Print no report and no progress; with --json, or for the exit code");
  app.footer("Examples:\n" + examples_of_inputs(true) + kOwnKernelsExample + examples_of_inputs(false) +
             kMoreExamples);
}

std::string describe_steps(const StepRange& steps) {
  if (!steps.first && !steps.last) return "";
  if (!steps.first) return fmt::format("steps to {}", *steps.last);
  if (!steps.last) return fmt::format("steps from {}", *steps.first);
  if (*steps.first == *steps.last) return fmt::format("step {}", *steps.first);
  return fmt::format("steps {} to {}", *steps.first, *steps.last);
}

// What the report is of, in words; empty: of everything.
std::string describe_selection(const StepRange& steps, const Arguments& arguments) {
  std::vector<std::string> parts;
  if (std::string text = describe_steps(steps); !text.empty()) {
    parts.push_back(std::move(text));
  }
  if (!arguments.ranks.empty()) {
    const bool one = arguments.ranks.find_first_not_of("0123456789") == std::string::npos;
    parts.push_back((one ? "rank " : "ranks ") + arguments.ranks);
  }
  if (!arguments.group.empty()) parts.push_back("collectives of group " + arguments.group);
  return fmt::format("{}", fmt::join(parts, ", "));
}

Result<analyzer::Restriction> parse_restriction(const CLI::App& app, const Arguments& arguments) {
  analyzer::Restriction restriction;
  restriction.group = arguments.group;
  if (app.count("--group") > 0 && arguments.group.empty())
    return Error{"--group: give the name of a process group"};
  if (app.count("--ranks") == 0) return restriction;
  Result<std::vector<analyzer::RankRange>> ranks = parse_rank_list("--ranks", arguments.ranks);
  if (!ranks.ok()) return ranks.error();
  restriction.ranks = std::move(ranks).value();
  return restriction;
}

// The ranks that are left of the report, over the range.
int print_range(const LoadedJob& loaded, const Arguments& arguments) {
  const analyzer::Report& report = loaded.analysis.report;
  const analyzer::TimeSpan range = analyzer::parse_range(arguments.range, report.origin_aligned_ns).value();
  analyzer::RangeReport found{
      range.begin - report.origin_aligned_ns, range.end - report.origin_aligned_ns, {}};
  for (const analyzer::RankReport& rank : report.ranks) {
    for (std::size_t i = 0; i < loaded.job.ranks.size(); ++i) {
      if (loaded.job.ranks[i].rank != rank.rank) continue;
      analyzer::Measures measures = analyzer::measures_of(
          analyzer::timeline_of(loaded.job, loaded.analysis, i), range.begin, range.end);
      measures.waits_known = rank.measures.waits_known;
      found.ranks.push_back({rank.rank, measures});
    }
  }
  const auto write_json = [&found](std::ostream& out) { analyzer::write_json(found, out); };
  Status status;
  if (!arguments.json.empty()) {
    status = arguments.json == "-" ? write_to_stdout(write_json)
                                   : write_file("--json", arguments.json, write_json);
  }
  if (status.ok() && arguments.json != "-" && !arguments.quiet) {
    analyzer::Page page(page_options_for_stdout(arguments.text));
    analyzer::print_range(found, page);
    status = write_to_stdout([&page](std::ostream& out) { out << page.take(); });
  }
  return status.ok() ? kSuccess : fail("analyze", status.error());
}

}  // namespace

int run_analyze(int argc, char** argv) {
  CLI::App app(
      "Says why the ranks of a distributed job wait: overlap, exposed communication, who waited for whom, "
      "and\n"
      "one cause for every nanosecond.",
      "lockstep analyze");
  Arguments arguments;
  describe(app, arguments);
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;

  const auto wrong = [](const Error& error) {
    fail("analyze", error);
    return kUsage;
  };
  StepRange steps;
  if (app.count("--steps") > 0) {
    const Result<StepRange> range = parse_step_range(arguments.steps);
    if (!range.ok()) return wrong(range.error());
    steps = range.value();
  }
  const Result<analyzer::Restriction> restriction = parse_restriction(app, arguments);
  if (!restriction.ok()) return wrong(restriction.error());
  const Result<std::size_t> rows = parse_rows("--rows", arguments.rows.empty() ? "all" : arguments.rows);
  if (!rows.ok()) return wrong(rows.error());
  const Result<std::size_t> collectives = parse_rows("--collectives", arguments.collectives);
  if (!collectives.ok()) return wrong(collectives.error());

  if (app.count("--range") > 0) {
    const Result<analyzer::TimeSpan> range = analyzer::parse_range(arguments.range, 0);
    if (!range.ok()) return wrong(Error{"--range: " + range.error().message});
  }

  for (const auto& [flag, file] :
       {std::pair("--json", arguments.json), std::pair("--html", arguments.html)}) {
    for (const std::string& path : arguments.paths) {
      std::error_code none;
      if (!file.empty() && std::filesystem::equivalent(path, file, none))
        return wrong(
            Error{fmt::format("{} {}: that is the trace; name another file for the report", flag, file)});
    }
  }
  if (!arguments.json.empty() && arguments.json == arguments.html)
    return wrong(
        Error{fmt::format("--json and --html are both '{}': one would overwrite the other", arguments.json)});

  LoadOptions load;
  if (const Status status = take_reading(arguments.reading, load.reading); !status.ok())
    return wrong(status.error());
  load.analysis.first_step = steps.first;
  load.analysis.last_step = steps.last;
  load.analysis.steady = !arguments.all_steps;
  load.analysis.keep_segments = false;
  load.progress = !arguments.quiet;
  load.clocks = analyzer::parse_clocks(arguments.clocks).value();
  Result<LoadedJob> loaded = load_job(arguments.paths, load);
  if (!loaded.ok()) return fail("analyze", loaded.error());
  analyzer::Report& report = loaded.value().analysis.report;
  if (const Status status = analyzer::restrict_report(restriction.value(), report); !status.ok())
    return fail("analyze", status.error());

  if (app.count("--range") > 0) return print_range(loaded.value(), arguments);

  std::int64_t resolution_ns = 1;
  for (const analyzer::RankTrace& rank : loaded.value().job.ranks)
    resolution_ns = std::max(resolution_ns, rank.resolution_ns);
  analyzer::HtmlOptions page;
  page.selection = describe_selection(steps, arguments);
  page.resolution_ns = resolution_ns;
  const auto write_json = [&](std::ostream& out) { analyzer::write_json(report, out); };
  const auto write_html = [&](std::ostream& out) { analyzer::write_html(report, page, out); };

  Status status;
  if (!arguments.json.empty() && arguments.json != "-")
    status = write_file("--json", arguments.json, write_json);
  if (arguments.json == "-") {
    const Status piped = write_to_stdout(write_json);
    if (status.ok()) status = piped;
  }
  // What people read is of steady training.
  analyzer::keep_steady(report);
  if (!arguments.html.empty() && arguments.html != "-") {
    const Status written = write_file("--html", arguments.html, write_html);
    if (status.ok()) status = written;
  }
  if (arguments.html == "-" && arguments.json != "-") {
    const Status piped = write_to_stdout(write_html);
    if (status.ok()) status = piped;
  }
  if (arguments.json == "-" || arguments.html == "-")
    return status.ok() ? kSuccess : fail("analyze", status.error());
  if (!arguments.quiet) {
    analyzer::TextOptions options;
    options.page = page_options_for_stdout(arguments.text);
    if (!arguments.rows.empty()) options.ranks = rows.value();
    options.collectives = collectives.value();
    options.layers = arguments.layers;
    options.selection = page.selection;
    options.restricted = restriction.value().any();
    options.resolution_ns = resolution_ns;
    const Status printed =
        write_to_stdout([&](std::ostream& out) { out << analyzer::to_text(report, options); });
    if (status.ok()) status = printed;
  }
  return status.ok() ? kSuccess : fail("analyze", status.error());
}

}  // namespace lockstep::cli
