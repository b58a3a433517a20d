// lockstep-view: the timeline of a run, in a window or as a picture.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/report/quantity.h"
#include "analyzer/report/range_text.h"
#include "analyzer/report/unicode.h"
#include "viewer/opening/open_run.h"
#include "viewer/opening/prepared_file.h"
#include "viewer/window/png_writer.h"
#include "viewer/window/run.h"

namespace lockstep::viewer {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

struct Arguments {
  std::vector<std::string> paths;
  std::string screenshot;
  std::string size;
  std::string range;
  std::string theme = "dark";
  double scale = 0;
  std::int64_t collective = -1;
  bool no_cache = false;
  std::string go_to, panel, search, measure, diff;
};

int fail(const Error& error, int exit_code) {
  fmt::print(stderr, "lockstep view: {}\n", analyzer::printable(error.message));
  return exit_code;
}

Result<std::pair<int, int>> parse_size(const std::string& text) {
  int width = 0;
  int height = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%5dx%5d%c", &width, &height, &rest) != 2 || width < 320 || height < 200 ||
      width > 16384 || height > 16384) {
    return Error{fmt::format(
        "--size '{}' is not WIDTHxHEIGHT between 320x200 and 16384x16384: write for example 1920x1080",
        text)};
  }
  return std::pair{width, height};
}

// `lockstep view A B`: two folders are two runs; files, and more than two, are one.
Arguments with_second_run(Arguments arguments) {
  std::error_code error;
  if (arguments.paths.size() != 2 || !arguments.diff.empty()) return arguments;
  for (const std::string& path : arguments.paths)
    if (!std::filesystem::is_directory(path, error)) return arguments;
  arguments.diff = arguments.paths[1];
  arguments.paths.pop_back();
  return arguments;
}

int run(const Arguments& arguments) {
  ShowOptions options;
  options.dark = arguments.theme == "dark";
  if (arguments.scale > 0) options.scale = arguments.scale;
  const bool picture = !arguments.screenshot.empty();
  if (picture && !arguments.screenshot.ends_with(".png")) {
    return fail(Error{fmt::format("--screenshot '{}': pictures are PNG, so their names end in .png",
                                  arguments.screenshot)},
                kUsage);
  }
  const std::string size = arguments.size.empty() ? (picture ? "1920x1080" : "1600x960") : arguments.size;
  const auto parsed = parse_size(size);
  if (!parsed.ok()) return fail(parsed.error(), kUsage);
  options.width = parsed.value().first;
  options.height = parsed.value().second;
  // Before minutes of loading; the origin comes with the run.
  if (!arguments.range.empty()) {
    if (const auto range = analyzer::parse_range(arguments.range, 0); !range.ok()) {
      return fail(Error{"--range: " + range.error().message}, kUsage);
    }
  }
  if (!arguments.measure.empty()) {
    if (const auto range = analyzer::parse_range(arguments.measure, 0); !range.ok())
      return fail(Error{"--measure: " + range.error().message}, kUsage);
  }
  if (!arguments.go_to.empty()) {
    if (const Status place = check_goto(arguments.go_to); !place.ok())
      return fail(Error{"--goto: " + place.error().message}, kUsage);
  }
  options.panel = arguments.panel;
  options.search = arguments.search;
  if (!arguments.search.empty() && arguments.panel.empty()) options.panel = "Search";

  OpenOptions opening;
  opening.keep = !arguments.no_cache;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  if (terminal) {
    opening.progress = [](OpeningStage stage, double done) {
      const std::string share =
          stage == OpeningStage::reading ? fmt::format("{:3.0f} %", 100 * done) : std::string("…    ");
      fmt::print(stderr, "\r{} {} ", to_string(stage), share);
      std::fflush(stderr);
    };
  }
  const Result<std::unique_ptr<Scene>> opened = open_run(arguments.paths, opening);
  if (terminal) fmt::print(stderr, "\r                  \r");
  if (!opened.ok()) return fail(opened.error(), kFailure);
  const Scene& scene = *opened.value();
  Result<std::unique_ptr<Scene>> other = Error{""};
  if (!arguments.diff.empty()) {
    other = open_run({arguments.diff}, opening);
    if (terminal) fmt::print(stderr, "\r                  \r");
    if (!other.ok()) return fail(Error{"--diff: " + other.error().message}, kFailure);
    options.other = other.value().get();
    if (arguments.panel.empty()) options.panel = "Diff";
  }

  if (!arguments.range.empty()) {
    const analyzer::TimeSpan range = analyzer::parse_range(arguments.range, scene.timeline().origin).value();
    options.range = TimeRange{range.begin, range.end};
    if (options.range->begin >= scene.timeline().content.end ||
        options.range->end <= scene.timeline().content.begin) {
      return fail(Error{fmt::format(
                      "--range {}: the run has nothing there; it ends {} after its start", arguments.range,
                      analyzer::format_duration(scene.timeline().content.end - scene.timeline().origin))},
                  kUsage);
    }
  }
  if (!arguments.go_to.empty()) {
    const Result<Command> command = parse_goto(scene, arguments.go_to);
    if (!command.ok()) return fail(Error{"--goto: " + command.error().message}, kUsage);
    options.go_to = command.value();
  }
  if (!arguments.measure.empty()) {
    const analyzer::TimeSpan range =
        analyzer::parse_range(arguments.measure, scene.timeline().origin).value();
    options.measured = TimeRange{range.begin, range.end};
    if (arguments.panel.empty()) options.panel = "Range";
  }
  if (arguments.collective >= 0) {
    options.collective = scene.find_collective(arguments.collective);
    if (!options.collective)
      return fail(Error{fmt::format("--collective {}: the report has no collective of that number; it has {}",
                                    arguments.collective, scene.collectives().size())},
                  kFailure);
  }
  if (!picture) {
    if (!arguments.no_cache) options.session_file = session_file_of(arguments.paths);
    options.layout_file = layout_file();
    const Status shown = show_window(scene, options);
    return shown.ok() ? 0 : fail(shown.error(), kFailure);
  }
  const Result<Shot> taken = take_picture(scene, options);
  if (!taken.ok()) return fail(Error{"--screenshot: " + taken.error().message}, kFailure);
  const Status written = write_png(arguments.screenshot, taken.value().picture);
  if (!written.ok()) return fail(Error{"--screenshot: " + written.error().message}, kFailure);
  for (const analyzer::Warning& warning : scene.report().warnings) {
    fmt::print(stderr, "lockstep view: warning: {}\n", analyzer::printable(warning.message));
  }
  fmt::print("wrote {}: {} x {} pixels\n", analyzer::printable(arguments.screenshot), options.width,
             options.height);
  return 0;
}

}  // namespace
}  // namespace lockstep::viewer

int main(int argc, char** argv) {
  CLI::App app("Shows a run on a timeline: what every rank did, and whom it waited for.", "lockstep view");
  lockstep::viewer::Arguments arguments;
  app.add_option("PATHS", arguments.paths,
                 "A run folder, trace files, or a folder of trace files; two folders: two runs to compare")
      ->required();
  app.add_option("--screenshot", arguments.screenshot, "Write a picture and exit; needs no display")
      ->option_text("FILE.png");
  app.add_option("--size", arguments.size, "Size in pixels [1600x960; pictures 1920x1080]")
      ->option_text("WxH");
  app.add_option("--range", arguments.range, "Show this first: times since the run's start, e.g. 1.5ms:3ms")
      ->option_text("A:B");
  app.add_option("--collective", arguments.collective, "Select this collective, by its number in the report")
      ->check(CLI::NonNegativeNumber)
      ->option_text("ID");
  app.add_option("--goto", arguments.go_to, "Go there first: step=12,rank=3 or time=1.5ms or collective=17")
      ->option_text("PLACE");
  app.add_option("--measure", arguments.measure, "Measure this range, as a drag with Shift does")
      ->option_text("A:B");
  app.add_option("--diff", arguments.diff, "Compare with this run: aligned by step, what changed by cause")
      ->option_text("RUN");
  app.add_option("--search", arguments.search, "Search for this: gemm, /nccl.*Reduce/, rank=3 longer=1ms")
      ->option_text("TEXT");
  app.add_option(
         "--panel", arguments.panel,
         "Bring a panel to the front: Overview, Findings, Collectives, Search, Details, Range, Notes, "
         "Steps, Imbalance or Counters")
      ->check(CLI::IsMember({"Overview", "Findings", "Collectives", "Search", "Details", "Range", "Notes",
                             "Steps", "Imbalance", "Counters", "Diff"},
                            CLI::ignore_case))
      ->option_text("NAME");
  app.add_option("--theme", arguments.theme, "dark or light [dark]")
      ->check(CLI::IsMember({"dark", "light"}))
      ->option_text("NAME");
  app.add_option("--scale", arguments.scale, "Size of text and rows [the display's; pictures 1]")
      ->check(CLI::Range(0.5, 4.0))
      ->option_text("FACTOR");
  app.add_flag("--no-cache", arguments.no_cache,
               "Neither keep the prepared run beside it (.lockstep-view) nor use one that is there");
  app.footer(
      "Examples:\n"
      "  lockstep view run\n"
      "  lockstep view run --goto step=12,rank=3\n"
      "  lockstep view before after                  compared by step\n"
      "  lockstep view run --search /nccl.*Reduce/ --panel Search\n"
      "  lockstep view run --screenshot run.png --range 0:50ms      no display needed\n"
      "\n"
      "Exit code: 0 shown; 1 the input could not be read or nothing could be drawn; 2 wrong usage.\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "lockstep view: {}\nSee lockstep view --help.\n", error.what());
    return lockstep::viewer::kUsage;
  }
  return lockstep::viewer::run(lockstep::viewer::with_second_run(arguments));
}
