// lockstep-view: the timeline of a run, in a window or as a picture.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/align/align.h"
#include "analyzer/import/rank/communication_patterns.h"
#include "base/printable.h"
#include "base/standard_output.h"
#include "base/standard_streams.h"
#include "viewer/opening/prepared_file.h"
#include "viewer/opening/recent_runs.h"
#include "viewer/opening/run_request.h"
#include "viewer/panels/panel_list.h"
#include "viewer/views/first_look.h"
#include "viewer/window/closing_signals.h"
#include "viewer/window/png_writer.h"
#include "viewer/window/run.h"
#include "viewer/window/welcome_page.h"

namespace lockstep::viewer {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;
// So long a picture of the welcome page waits for file systems that do not answer.
constexpr std::chrono::seconds kMaxForPresence{10};

struct Arguments {
  std::vector<std::string> paths;
  std::string screenshot;
  std::string size;
  std::string range;
  std::string theme;  // "": as it was, else dark
  double scale = 0;
  std::int64_t collective = -1;
  bool no_cache = false;
  bool all_steps = false;
  std::string go_to, panel, search, measure, diff;
  std::string order, filter;
  std::vector<std::int32_t> pinned;
  std::vector<std::string> open;  // "hosts", "counters"
  bool chain = false;
  std::string clocks = "auto";
  std::vector<std::string> communication;
  std::shared_ptr<const analyzer::CommunicationPatterns> patterns;  // made of these
  int cycle = 0;
};

int fail(const Error& error, int exit_code) {
  tell_terminal(error.message);
  return exit_code;
}

// To stdout, as exit code.
int print(std::string_view text) {
  const Status status = write_to_stdout([text](std::ostream& out) { out << text; });
  return status.ok() ? 0 : fail(status.error(), kFailure);
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

RunRequest run_asked_for(const Arguments& arguments) {
  RunRequest request = request_of(arguments.paths, !arguments.no_cache);
  if (!arguments.diff.empty()) request = {arguments.paths, arguments.diff, !arguments.no_cache};
  request.clocks = analyzer::parse_clocks(arguments.clocks).value();
  request.communication = arguments.patterns;
  request.cycle = arguments.cycle;
  request.all_steps = arguments.all_steps;
  return request;
}

FirstLookFlags flags_of(const Arguments& arguments) {
  FirstLookFlags flags;
  flags.range = arguments.range;
  flags.go_to = arguments.go_to;
  flags.measure = arguments.measure;
  flags.panel = arguments.panel;
  const Panel* const panel = find_panel(arguments.panel);
  flags.panel_compares = panel != nullptr && panel->runs == PanelRuns::both;
  flags.search = arguments.search;
  flags.collective = arguments.collective;
  flags.order = arguments.order;
  flags.filter = arguments.filter;
  flags.pinned = arguments.pinned;
  for (const std::string& lanes : arguments.open)
    flags.open.push_back(lanes == "hosts" ? LaneRole::host : LaneRole::counter);
  flags.chain = arguments.chain;
  flags.compared = !run_asked_for(arguments).other.empty();
  flags.remembers = arguments.screenshot.empty();
  return flags;
}

// Titles of panels: of those that there are in any run, or of those that compare two.
std::vector<std::string> panel_titles(bool compare) {
  std::vector<std::string> titles;
  for (const Panel* const panel : all_panels())
    if ((panel->runs == PanelRuns::both) == compare) titles.emplace_back(panel->title);
  return titles;
}

void add_panel_flag(CLI::App& app, std::string& panel) {
  std::vector<std::string> titles = panel_titles(false);
  const std::vector<std::string> comparing = panel_titles(true);
  const std::string what = fmt::format("Bring a panel to the front: {} or, of two runs, {}",
                                       fmt::join(titles, ", "), fmt::join(comparing, ", "));
  titles.insert(titles.end(), comparing.begin(), comparing.end());
  app.add_option("--panel", panel, what)
      ->transform(CLI::IsMember(titles, CLI::ignore_case))
      ->option_text("NAME");
}

// A flag that makes no sense without a run; "": none.
std::string flag_of_a_run(const Arguments& arguments) {
  for (const auto& [flag, text] :
       {std::pair{"--range", &arguments.range}, std::pair{"--goto", &arguments.go_to},
        std::pair{"--measure", &arguments.measure}, std::pair{"--panel", &arguments.panel},
        std::pair{"--search", &arguments.search}, std::pair{"--diff", &arguments.diff},
        std::pair{"--order", &arguments.order}, std::pair{"--filter", &arguments.filter}})
    if (!text->empty()) return flag;
  if (!arguments.pinned.empty()) return "--pin";
  if (!arguments.open.empty()) return "--open";
  if (arguments.chain) return "--chain";
  if (arguments.clocks != "auto") return "--clocks";
  if (!arguments.communication.empty()) return "--communication";
  if (arguments.cycle != 0) return "--cycle";
  if (arguments.all_steps) return "--all-steps";
  return arguments.collective >= 0 ? "--collective" : "";
}

int written(const Arguments& arguments, const Picture& picture) {
  const Status status = write_png(arguments.screenshot, picture);
  if (!status.ok()) return fail(Error{"--screenshot: " + status.error().message}, kFailure);
  return print(fmt::format("wrote {}: {} x {} pixels\n", printable(arguments.screenshot), picture.width,
                           picture.height));
}

int picture_of_welcome_page(const Arguments& arguments, const ShowOptions& options) {
  const std::vector<RecentRun> runs = read_recent_runs(recent_runs_file());
  RunPresence presence;
  presence.look(runs);
  presence.wait_for(kMaxForPresence);
  WelcomePage page(runs, std::time(nullptr), presence);
  const Result<Picture> taken = take_picture_of_page(
      options, [&page](const Theme& theme, const Fonts& fonts) { page.draw(theme, fonts, ""); });
  if (!taken.ok()) return fail(Error{"--screenshot: " + taken.error().message}, kFailure);
  return written(arguments, taken.value());
}

int picture_of_run(const Arguments& arguments, ShowOptions options) {
  TellProgress tell;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  if (terminal) {
    tell = [](const OpeningProgress& progress) {
      const std::string share = progress.stage == OpeningStage::reading
                                    ? fmt::format("{:3.0f} %", 100 * progress.done)
                                    : std::string("…    ");
      write_to_stderr(fmt::format("\r{} {} ", to_string(progress.stage), share));
    };
  }
  const Result<OpenedRun> opened = open_request(run_asked_for(arguments), tell);
  if (terminal) write_to_stderr("\r                  \r");
  if (!opened.ok()) return fail(opened.error(), kFailure);
  const Scene& scene = *opened.value().scene;
  Runs runs{&scene};
  if (opened.value().other) runs.push_back(opened.value().other.get());
  UnderstoodFlags flags = understand(flags_of(arguments), runs);
  if (!flags.wrong.empty()) {
    const FlagError& wrong = flags.wrong.front();
    return fail(Error{wrong.message}, kUsage);
  }
  static_cast<FirstLook&>(options) = std::move(flags.look);
  options.other = opened.value().other.get();
  const Result<Shot> taken = take_picture(scene, options);
  if (!taken.ok()) return fail(Error{"--screenshot: " + taken.error().message}, kFailure);
  const int exit_code = written(arguments, taken.value().picture);
  if (exit_code != 0) return exit_code;
  for (const std::string& warning : flags.warnings) tell_terminal("warning: " + warning);
  if (taken.value().nothing_found) {
    const std::string why = why_not_found(arguments.search, scene);
    tell_terminal("warning: " + warning_of_search(arguments.search, why));
  }
  for (const Scene* const run : runs) {
    const char* const which = runs.size() == 1 ? "" : run == &scene ? "A: " : "B: ";
    for (const analyzer::Warning& warning : run->report().warnings)
      tell_terminal(fmt::format("warning: {}{}", which, warning.message));
  }
  return exit_code;
}

int window(const Arguments& arguments, const ShowOptions& options) {
  WindowContents contents;
  if (!arguments.paths.empty()) contents.request = run_asked_for(arguments);
  contents.flags = flags_of(arguments);
  if (!arguments.no_cache) {
    contents.layout_file = layout_file();
    contents.recent_file = recent_runs_file();
  }
  const WindowEnd end = show_window(contents, options);
  const int exit_code = !end.status.ok() ? fail(end.status.error(), kFailure) : end.run_failed ? kFailure : 0;
  if (end.signal != 0) {
    std::fflush(nullptr);
    end_by(end.signal);
  }
  if (!end.at_work) return exit_code;
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

int run(const Arguments& arguments) {
  ShowOptions options;
  options.dark = arguments.theme != "light";
  options.theme_asked_for = !arguments.theme.empty();
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
  // Before minutes of loading.
  if (const std::optional<FlagError> wrong = check(flags_of(arguments)))
    return fail(Error{wrong->message}, kUsage);
  if (arguments.paths.empty()) {
    const std::string flag = flag_of_a_run(arguments);
    if (!flag.empty())
      return fail(Error{flag + " needs a run: lockstep view RUN " + flag + " … (see lockstep view --help)"},
                  kUsage);
    return picture ? picture_of_welcome_page(arguments, options) : window(arguments, options);
  }
  return picture ? picture_of_run(arguments, std::move(options)) : window(arguments, options);
}

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("PATHS", arguments.paths,
                 "A run folder, trace files, or a folder of trace files; two folders: two runs to compare; "
                 "none: choose in the window");
  app.add_option("--screenshot", arguments.screenshot, "Write a picture and exit; needs no display")
      ->option_text("FILE.png");
  app.add_option("--size", arguments.size, "Size in pixels [1600x960; pictures 1920x1080]")
      ->option_text("WxH");
  app.add_option("--range", arguments.range, "Show this first: times since the run's start, e.g. 1.5ms:3ms")
      ->option_text("A:B");
  app.add_option("--collective", arguments.collective, "Select this collective, by its number in the report")
      ->check([](const std::string& text) { return wrong_collective_number(text); })
      ->option_text("ID");
  app.add_option("--goto", arguments.go_to, "Go there first: step=12,rank=3 or time=1.5ms or collective=17")
      ->option_text("PLACE");
  app.add_option("--measure", arguments.measure, "Measure this range, as a drag with Shift does")
      ->option_text("A:B");
  app.add_option(
         "--order", arguments.order,
         "Ranks in this order: rank, host, group, group=NAME, lost (others waited longest for them) or "
         "waiting")
      ->option_text("ORDER");
  app.add_option("--filter", arguments.filter, "Only these ranks: 3,7:12 or host=node2 or group=dp or late")
      ->option_text("TEXT");
  app.add_option("--pin", arguments.pinned, "Ranks that stay at the top")
      ->delimiter(',')
      ->check([](const std::string& text) { return wrong_rank_number(text); })
      ->option_text("N,...");
  app.add_option("--open", arguments.open, "Unfold these lanes: hosts, counters")
      ->delimiter(',')
      ->check(CLI::IsMember({"hosts", "counters"}))
      ->option_text("LANES");
  app.add_flag("--chain", arguments.chain, "Draw the chain of waits from what is selected");
  app.add_option("--diff", arguments.diff, "Compare with this run: aligned by step, what changed by cause")
      ->option_text("RUN");
  app.add_option("--clocks", arguments.clocks,
                 "auto: one a host, put onto one; rank: each rank has its own; recorded: leave the times as "
                 "they are [auto]")
      ->check(CLI::IsMember({"auto", "rank", "recorded"}))
      ->option_text("WHOSE");
  app.add_option("--communication", arguments.communication,
                 "Kernels whose name this regular expression is found in communicate, beyond those that are "
                 "known; as this operation (all_reduce, send, …) where it is given. @FILE: a file of such "
                 "lines. May be repeated")
      ->allow_extra_args(false)
      ->option_text("REGEX[=OPERATION]|@FILE");
  app.add_option("--cycle", arguments.cycle,
                 "Of several profiles of one process (torch.profiler's schedule) only the N-th, from 1 [all]")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text("N");
  app.add_flag("--all-steps", arguments.all_steps,
               "Findings and summaries over all that was recorded, not over the steady steps alone");
  app.add_option("--search", arguments.search, "Search for this: gemm, /nccl.*Reduce/, rank=3 longer=1ms")
      ->option_text("TEXT");
  add_panel_flag(app, arguments.panel);
  app.add_option("--theme", arguments.theme,
                 "dark or light [windows: as at the last look, else dark; pictures dark]")
      ->check(CLI::IsMember({"dark", "light"}))
      ->option_text("NAME");
  app.add_option("--scale", arguments.scale, "Size of text and rows [the display's; pictures 1]")
      ->check(CLI::Range(0.5, 4.0))
      ->check([](const std::string& text) {
        return std::isfinite(std::strtod(text.c_str(), nullptr)) ? ""
                                                                 : text + " is not a factor from 0.5 to 4";
      })
      ->option_text("FACTOR");
  app.add_flag(
      "--no-cache", arguments.no_cache,
      "Neither keep the prepared run beside it (.lockstep-view) nor use one that is there; remember nothing");
  app.footer(
      "Examples:\n"
      "  lockstep view                               recent runs, and a place to drop others\n"
      "  lockstep view run\n"
      "  lockstep view run --goto step=12,rank=3\n"
      "  lockstep view before after                  compared by step\n"
      "  lockstep view run --search /nccl.*Reduce/ --panel Search\n"
      "  lockstep view run --screenshot run.png --range 0:50ms      no display needed\n"
      "\n"
      "Exit code: 0 shown; 1 the input could not be read or nothing could be drawn; 2 wrong usage.\n");
}

int view(int argc, char** argv) {
  CLI::App app("Shows a run on a timeline: what every rank did, and whom it waited for.", "lockstep view");
  Arguments arguments;
  describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print(app.help());
  } catch (const CLI::ParseError& error) {
    tell(fmt::format("lockstep view: {}\nSee lockstep view --help.\n", error.what()));
    return kUsage;
  }
  auto patterns = analyzer::CommunicationPatterns::parse(arguments.communication);
  if (!patterns.ok()) return fail(Error{"--communication " + patterns.error().message}, kUsage);
  if (!arguments.communication.empty()) arguments.patterns = std::move(patterns).value();
  return run(arguments);
}

}  // namespace
}  // namespace lockstep::viewer

int main(int argc, char** argv) {
  lockstep::hold_closed_streams();
  lockstep::fail_at_file_size_limit();
  // No library throws; this is for memory running out and for what a library underneath may throw after all.
  try {
    return lockstep::viewer::view(argc, argv);
  } catch (const std::bad_alloc&) {
    lockstep::tell("lockstep view: out of memory\n");
  } catch (const std::exception& error) {
    lockstep::tell(std::string("lockstep view: unexpected error: ") + error.what() + "\n");
  }
  return lockstep::viewer::kFailure;
}
