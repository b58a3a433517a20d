// lockstep-view: the timeline of a run, in a window or as a picture.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/opening/open_run.h"
#include "viewer/timeline/range_text.h"
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

Result<std::uint32_t> find_collective(const Scene& scene, std::int64_t id) {
  const auto collectives = scene.collectives();
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    if (collectives[i].id == id) return static_cast<std::uint32_t>(i);
  }
  return Error{fmt::format("--collective {}: the report has no collective of that number; it has {}", id,
                           collectives.size())};
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
    if (const auto range = parse_range(arguments.range, 0); !range.ok()) {
      return fail(Error{"--range: " + range.error().message}, kUsage);
    }
  }

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

  if (!arguments.range.empty()) {
    options.range = parse_range(arguments.range, scene.timeline().origin).value();
    if (options.range->begin >= scene.timeline().content.end ||
        options.range->end <= scene.timeline().content.begin) {
      return fail(Error{fmt::format(
                      "--range {}: the run has nothing there; it ends {} after its start", arguments.range,
                      analyzer::format_duration(scene.timeline().content.end - scene.timeline().origin))},
                  kUsage);
    }
  }
  if (arguments.collective >= 0) {
    const Result<std::uint32_t> found = find_collective(scene, arguments.collective);
    if (!found.ok()) return fail(found.error(), kFailure);
    options.collective = found.value();
  }
  if (!picture) {
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
  app.add_option("PATHS", arguments.paths, "A run folder, trace files, or a folder of trace files")
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
      "  lockstep view run --screenshot run.png --range 0:50ms\n"
      "\n"
      "Exit code: 0 shown; 1 the input could not be read or nothing could be drawn; 2 wrong usage.\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "lockstep view: {}\nSee lockstep view --help.\n", error.what());
    return lockstep::viewer::kUsage;
  }
  return lockstep::viewer::run(arguments);
}
