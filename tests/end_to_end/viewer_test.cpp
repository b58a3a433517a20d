// `lockstep-view` as its users run it, on machines without a display: pictures, and messages. What it says of
// displays: viewer_display_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "tests/end_to_end/support.h"
#include "tests/fixtures/fixtures.h"
#include "viewer/panels/panel_list.h"
#include "viewer/testing/png_reader.h"
#include "viewer/timeline/theme.h"

namespace lockstep::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using viewer::Color;

// No display but the one that the viewer starts for itself; the leaks of the OpenGL driver are not ours.
const std::vector<std::string> kNoDisplay{"DISPLAY=", "WAYLAND_DISPLAY=", "ASAN_OPTIONS=detect_leaks=0"};

// Four ranks of one all-reduce each: 3 ms of compute on rank 2, 1 ms on the others; all end at 4 ms.
std::string kineto_rank(int rank) {
  const int computed = rank == 2 ? 3000 : 1000;
  std::string text = "{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + std::to_string(rank) +
                     ", \"world_size\": 4}, \"traceEvents\": [\n";
  const auto event = [&](const char* category, const std::string& name, int begin, int duration, int stream,
                         const std::string& more) {
    text += "{\"ph\": \"X\", \"cat\": \"" + std::string(category) + "\", \"name\": \"" + name +
            "\", \"pid\": 0, \"tid\": " + std::to_string(stream) + ", \"ts\": " + std::to_string(begin) +
            ", \"dur\": " + std::to_string(duration) + ", \"args\": {\"stream\": " + std::to_string(stream) +
            more + "}},\n";
  };
  event("kernel", "gemm", 0, computed, 7, ", \"correlation\": 1");
  event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", computed, 4000 - computed, 20,
        ", \"correlation\": 2, \"Collective name\": \"allreduce\", \"In msg nelems\": 1000, \"dtype\": "
        "\"Float\", \"Group size\": 4, \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0, 1, 2, "
        "3]\", \"Seq\": 1");
  text.resize(text.size() - 2);
  return text + "\n]}\n";
}

class Viewer : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_.path() / "run");
    for (int rank = 0; rank < 4; ++rank)
      write("run/rank-" + std::to_string(rank) + ".json", kineto_rank(rank));
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name) << text;
  }
  Outcome view(std::vector<std::string> arguments, std::vector<std::string> environment = kNoDisplay) const {
    arguments.insert(arguments.begin(), binary("lockstep-view"));
    return run(arguments, environment);
  }
  // How many pixels have each colour. Skips the test where nothing can be drawn.
  std::map<std::uint32_t, int> colours(const std::string& file) const {
    std::ifstream stream(file, std::ios::binary);
    const viewer::ReadPicture read = viewer::read_png({std::istreambuf_iterator<char>(stream), {}});
    EXPECT_EQ(read.error, "");
    std::map<std::uint32_t, int> counts;
    for (int y = 0; y < read.picture.height; ++y) {
      for (int x = 0; x < read.picture.width; ++x) ++counts[packed(viewer::pixel(read.picture, x, y))];
    }
    return counts;
  }
  static std::uint32_t packed(Color color) {
    return static_cast<std::uint32_t>(color.r) << 16 | static_cast<std::uint32_t>(color.g) << 8 | color.b;
  }
  static bool cannot_draw(const Outcome& outcome) {
    return outcome.exit_code == 1 && (outcome.standard_error.find("Xvfb") != std::string::npos ||
                                      outcome.standard_error.find("OpenGL") != std::string::npos);
  }

  TemporaryFolder folder_;
};

TEST_F(Viewer, WritesAPictureWithoutADisplay) {
  const Outcome outcome = view({folder_ / "run", "--screenshot", folder_ / "run.png", "--size", "1280x720"});
  if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_THAT(outcome.standard_output, HasSubstr("run.png: 1280 x 720 pixels\n"));
  const auto counts = colours(folder_ / "run.png");
  int pixels = 0;
  for (const auto& [color, count] : counts) pixels += count;
  EXPECT_EQ(pixels, 1280 * 720);
  const viewer::Theme theme = viewer::dark_theme();
  const auto area = [&](analyzer::Cause cause) {
    const auto found = counts.find(packed(viewer::cause_color(theme, cause)));
    return found == counts.end() ? 0 : found->second;
  };
  // Compute fills 1 of 4 ms of three ranks and 3 of 4 of the fourth, transfer the last ms of all, in two rows
  // each.
  EXPECT_GT(area(analyzer::Cause::compute), 10'000);
  EXPECT_GT(area(analyzer::Cause::transfer), 10'000);
  EXPECT_GT(area(analyzer::Cause::barrier_wait), 1'000) << "the stripes of 2 ms of waiting on three ranks";
}

TEST_F(Viewer, ShowsARangeOfIt) {
  const Outcome outcome = view(
      {folder_ / "run", "--screenshot", folder_ / "run.png", "--size", "1280x720", "--range", "3.2ms:3.9ms"});
  if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const auto counts = colours(folder_ / "run.png");
  const viewer::Theme theme = viewer::dark_theme();
  const auto transfer = counts.find(packed(viewer::cause_color(theme, analyzer::Cause::transfer)));
  ASSERT_NE(transfer, counts.end());
  // All of the lanes' width, in two rows of four ranks.
  EXPECT_GT(transfer->second, 8 * 12 * 600);
}

TEST_F(Viewer, EveryPanelIsDrawn) {
  std::set<std::string> seen;
  const auto draw = [&](const std::string& panel, const std::string& theme) {
    const Outcome outcome = view({folder_ / "run", "--screenshot", folder_ / "panel.png", "--size",
                                  "1280x720", "--panel", panel, "--theme", theme, "--measure", "1ms:3ms"});
    if (cannot_draw(outcome)) return false;
    EXPECT_EQ(outcome.exit_code, 0) << panel << outcome.standard_error;
    std::ifstream stream(folder_ / "panel.png", std::ios::binary);
    seen.insert({std::istreambuf_iterator<char>(stream), {}});
    return true;
  };
  std::size_t drawn = 0;
  for (const viewer::Panel* const panel : viewer::panels_for(false)) {
    // Overview and Details are in front anyway: one picture of both.
    if (panel == &viewer::panels::details) continue;
    if (!draw(panel->title, "dark")) GTEST_SKIP() << "nothing can be drawn here";
    ++drawn;
  }
  ASSERT_TRUE(draw("Overview", "light"));
  EXPECT_EQ(seen.size(), drawn + 1) << "each looks like no other";
}

TEST_F(Viewer, ComparesTwoRuns) {
  std::filesystem::copy(folder_ / "run", folder_ / "later");
  const Outcome outcome =
      view({folder_ / "run", folder_ / "later", "--screenshot", folder_ / "diff.png", "--size", "1280x720"});
  if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr("warning: A: "), HasSubstr("warning: B: ")));
  const Outcome absent =
      view({folder_ / "run", "--diff", folder_ / "absent", "--screenshot", folder_ / "d.png"});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.standard_error, AllOf(HasSubstr("--diff"), HasSubstr("absent")));
}

// Rank 2, for which the others wait, stands first, or alone, or with the chain of waits drawn to it.
TEST_F(Viewer, RanksStandInTheOrderThatIsAskedFor) {
  std::set<std::string> seen;
  const std::vector<std::vector<std::string>> flags{{},
                                                    {"--order", "lost"},
                                                    {"--filter", "late"},
                                                    {"--pin", "3,1"},
                                                    {"--collective", "0"},
                                                    {"--collective", "0", "--chain"}};
  for (const auto& each : flags) {
    std::vector<std::string> arguments{folder_ / "run", "--screenshot", folder_ / "o.png", "--size",
                                       "1280x720"};
    arguments.insert(arguments.end(), each.begin(), each.end());
    const Outcome outcome = view(arguments);
    if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    std::ifstream stream(folder_ / "o.png", std::ios::binary);
    seen.insert({std::istreambuf_iterator<char>(stream), {}});
  }
  EXPECT_EQ(seen.size(), flags.size()) << "each looks like no other";
}

TEST_F(Viewer, PlacesThatAreNotThereAreSaid) {
  const auto error = [&](const std::vector<std::string>& flags, int exit_code) {
    std::vector<std::string> arguments{folder_ / "run", "--screenshot", folder_ / "run.png"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Outcome outcome = view(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.standard_error;
    return outcome.standard_error;
  };
  EXPECT_THAT(error({"--goto", "rank=9"}, 2), AllOf(HasSubstr("--goto"), HasSubstr("4 ranks")));
  EXPECT_THAT(error({"--goto", "nowhere"}, 2), AllOf(HasSubstr("nowhere"), HasSubstr("step=12,rank=3")));
  EXPECT_THAT(error({"--measure", "3ms:1ms"}, 2), HasSubstr("--measure"));
  EXPECT_THAT(error({"--panel", "Nothing"}, 2), HasSubstr("Nothing"));
  EXPECT_THAT(error({"--panel", "diff"}, 2), AllOf(HasSubstr("--panel Diff"), HasSubstr("--diff")));
  EXPECT_THAT(error({"--pin", "1,99"}, 2), AllOf(HasSubstr("--pin 99"), HasSubstr("ranks are 0 to 3")));
  EXPECT_THAT(error({"--order", "group=nope"}, 2),
              AllOf(HasSubstr("--order group=nope"), HasSubstr("process groups are")));
  EXPECT_THAT(error({"--search", "foo=3"}, 2), AllOf(HasSubstr("--search 'foo=3'"), HasSubstr("longer")));
  EXPECT_THAT(error({"--search", "/gem(/"}, 2), HasSubstr("--search"));
  EXPECT_THAT(error({"--collective", "99999"}, 2), HasSubstr("--collective 99999"));
  EXPECT_THAT(error({"--goto", "collective=99999"}, 2), HasSubstr("99999"));
  EXPECT_THAT(error({"--chain"}, 2), AllOf(HasSubstr("--chain"), HasSubstr("--collective ID")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.png"));
}

// What makes sense and shows nothing is drawn all the same.
TEST_F(Viewer, WhatMatchesNothingIsAWarning) {
  for (const auto& [flag, value, why] : {std::tuple{"--filter", "50", "ranks are 0 to 3"},
                                         std::tuple{"--search", "flash_attention", "nothing is found"}}) {
    const Outcome outcome = view({folder_ / "run", "--screenshot", folder_ / "run.png", flag, value});
    if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    EXPECT_THAT(outcome.standard_error,
                AllOf(HasSubstr("warning: "), HasSubstr(flag), HasSubstr(value), HasSubstr(why)));
    EXPECT_TRUE(std::filesystem::remove(folder_ / "run.png"));
  }
  const Outcome found = view({folder_ / "run", "--screenshot", folder_ / "run.png", "--search", "gemm"});
  EXPECT_THAT(found.standard_error, testing::Not(HasSubstr("--search")));
}

TEST_F(Viewer, APanelIsNamedInAnyCase) {
  std::set<std::string> seen;
  for (const char* const panel : {"Imbalance", "imbalance", "Counters"}) {
    const Outcome outcome = view({folder_ / "run", "--screenshot", folder_ / "p.png", "--panel", panel});
    if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
    std::ifstream stream(folder_ / "p.png", std::ios::binary);
    seen.insert({std::istreambuf_iterator<char>(stream), {}});
  }
  EXPECT_EQ(seen.size(), 2U);
}

// The files name no host: they are taken to be of one, with a warning that names the flag.
TEST_F(Viewer, ClocksAreWhoseTheFlagSays) {
  const auto warnings = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{folder_ / "run", "--screenshot", folder_ / "run.png"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return view(arguments);
  };
  const Outcome automatic = warnings({});
  if (cannot_draw(automatic)) GTEST_SKIP() << automatic.standard_error;
  EXPECT_THAT(automatic.standard_error, HasSubstr("`--clocks rank`"));
  const Outcome each = warnings({"--clocks", "rank"});
  EXPECT_EQ(each.exit_code, 0) << each.standard_error;
  EXPECT_THAT(each.standard_error, AllOf(testing::Not(HasSubstr("--clocks")), HasSubstr("happened")));
  const Outcome wrong = warnings({"--clocks", "mine"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.standard_error, HasSubstr("--clocks"));
}

TEST_F(Viewer, HelpListsAllPanels) {
  const Outcome outcome = view({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  const std::size_t begin = outcome.standard_output.find("--panel");
  ASSERT_NE(begin, std::string::npos);
  // Only what is said of this flag: names are common words.
  const std::string said =
      outcome.standard_output.substr(begin, outcome.standard_output.find("\n  --", begin) - begin);
  for (const viewer::Panel* const panel : viewer::all_panels()) EXPECT_THAT(said, HasSubstr(panel->title));
}

// A small run leaves nothing beside it; pictures keep no session.
TEST_F(Viewer, PicturesLeaveNothingBehind) {
  const Outcome outcome = view({folder_ / "run", "--screenshot", folder_ / "run.png", "--size", "640x400"});
  if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run"))
    EXPECT_EQ(entry.path().filename().string().find("lockstep-view"), std::string::npos) << entry.path();
}

TEST_F(Viewer, ABrokenRankAmongGoodOnesIsABanner) {
  write("run/rank-3.json", "{\"traceEvents\": [");
  const Outcome outcome = view({folder_ / "run", "--screenshot", folder_ / "run.png", "--size", "1280x720"});
  if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const viewer::Theme theme = viewer::dark_theme();
  const auto counts = colours(folder_ / "run.png");
  const auto banner = counts.find(packed(viewer::mix(theme.panel, theme.warning, 0.14)));
  ASSERT_NE(banner, counts.end());
  EXPECT_GT(banner->second, 1280 * 10);
}

TEST_F(Viewer, SaysWhatItCannotRead) {
  const Outcome outcome = view({folder_ / "absent", "--screenshot", folder_ / "run.png"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr("lockstep view: "), HasSubstr("absent")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.png"));
}

// The window comes without a run too, so that what is missing is a display, not a path.
TEST_F(Viewer, WithoutARunItIsTheWelcomePage) {
  const Outcome window = view({});
  EXPECT_EQ(window.exit_code, 1);
  EXPECT_THAT(window.standard_error, HasSubstr("no display"));

  const std::string run = std::filesystem::absolute(folder_ / "run").string();
  std::filesystem::create_directories(folder_.path() / "state/lockstep");
  const auto picture = [&](const std::string& path) {
    write("state/lockstep/recent-runs",
          "{\"paths\":[\"" + path + "\"],\"ranks\":4,\"steps\":0,\"opened\":1}\nnot a line of ours\n");
    std::vector<std::string> environment = kNoDisplay;
    environment.push_back("XDG_STATE_HOME=" + folder_ / "state");
    return view({"--screenshot", folder_ / "welcome.png", "--size", "1280x720"}, environment);
  };
  const Outcome there = picture(run);
  if (cannot_draw(there)) GTEST_SKIP() << there.standard_error;
  ASSERT_EQ(there.exit_code, 0) << there.standard_error;
  const std::uint32_t text = packed(viewer::dark_theme().text);
  const int with_it = colours(folder_ / "welcome.png")[text];
  ASSERT_EQ(picture(folder_ / "absent").exit_code, 0);
  EXPECT_GT(with_it, colours(folder_ / "welcome.png")[text]) << "a run that is gone is dim";
}

TEST_F(Viewer, WhatNeedsARunSaysSo) {
  for (const auto& [flag, value] :
       {std::pair{"--range", "1ms:2ms"}, std::pair{"--goto", "rank=1"}, std::pair{"--measure", "1ms:2ms"},
        std::pair{"--panel", "Findings"}, std::pair{"--search", "gemm"}, std::pair{"--diff", "run"},
        std::pair{"--collective", "1"}, std::pair{"--clocks", "rank"}}) {
    const Outcome outcome = view({flag, value, "--screenshot", folder_ / "run.png"});
    EXPECT_EQ(outcome.exit_code, 2) << flag;
    EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr(flag), HasSubstr("needs a run")));
  }
}

TEST_F(Viewer, AMessageOfSeveralLinesIsShownAsSuch) {
  std::filesystem::create_directories(folder_.path() / "no");
  write("no/rank-0.json", "{}");
  write("no/rank-1.json", "{}");
  const Outcome outcome = view({folder_ / "no", "--screenshot", folder_ / "run.png"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr("\n  "), testing::Not(HasSubstr("\\n"))));
}

TEST_F(Viewer, WrongUsageIsSaidBeforeAnythingIsRead) {
  const std::vector<std::vector<std::string>> wrong{
      {"--size", "huge"},  {"--size", "10x10"}, {"--range", "5ms"},       {"--range", "5ms:1ms"},
      {"--theme", "pink"}, {"--scale", "99"},   {"--order", "size"},      {"--filter", "3-5"},
      {"--pin", "x"},      {"--scale", "nan"},  {"--measure", "5ms:5ms"}, {"--collective", "-1"}};
  for (const auto& flags : wrong) {
    std::vector<std::string> arguments{folder_ / "absent", "--screenshot", folder_ / "run.png"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Outcome outcome = view(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << flags[0] << " " << flags[1];
    EXPECT_THAT(outcome.standard_error, HasSubstr(flags[0]));
    EXPECT_LT(outcome.standard_error.size(), 300U) << "in few words";
  }
  const Outcome other = view({folder_ / "absent", "--screenshot", folder_ / "run.jpg"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.standard_error, HasSubstr("end in .png"));
}

TEST_F(Viewer, APictureThatCannotBeWrittenIsAnError) {
  const Outcome outcome =
      view({folder_ / "run", "--screenshot", folder_ / "absent/run.png", "--size", "640x400"});
  EXPECT_EQ(outcome.exit_code, 1);
  if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
  EXPECT_THAT(outcome.standard_error, HasSubstr("absent/run.png"));
}

class ViewerTrace : public Viewer {
 protected:
  void expect_waiting(const std::string& trace, const std::string& collective) {
    const Outcome outcome = view({trace, "--screenshot", folder_ / "trace.png", "--collective", collective});
    if (cannot_draw(outcome)) GTEST_SKIP() << outcome.standard_error;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    const auto counts = colours(folder_ / "trace.png");
    const viewer::Theme theme = viewer::dark_theme();
    EXPECT_GT(counts.at(packed(viewer::cause_color(theme, analyzer::Cause::barrier_wait))), 5'000);
  }
};

TEST_F(ViewerTrace, OfOurOwn) {
  // Rank 1 comes last, by 125 µs.
  expect_waiting(test::fixture("gpu-4rank"), "4");
}

TEST_F(ViewerTrace, OfOthers) {
  const std::filesystem::path trace =
      std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "../shared/traces/dlrm-8rank";
  if (!std::filesystem::exists(trace)) GTEST_SKIP() << "no " << trace;
  expect_waiting(trace.string(), "0");
}

}  // namespace
}  // namespace lockstep::end_to_end
