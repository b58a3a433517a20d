#include "viewer/panels/panel_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "viewer/panels/keys.h"
#include "viewer/panels/panel_states.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"
#include "viewer/timeline/lower_case.h"

namespace lockstep::viewer {
namespace {

using testing::HasSubstr;

// "P, right click" is two, and so are ", ." and "[ ]"; "Shift N" is one.
std::vector<std::string> keys_in(const std::string& text) {
  std::vector<std::string> keys;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t comma = text.find(", ", from + 1);
    const std::string part = text.substr(from, comma - from);
    bool single = true;
    for (std::size_t i = 1; i < part.size(); i += 2) single = single && part[i] == ' ';
    if (!single) keys.push_back(part);
    for (std::size_t i = 0; single && i < part.size(); i += 2) keys.emplace_back(1, part[i]);
    from = comma == std::string::npos ? text.size() : comma + 2;
  }
  return keys;
}

TEST(PanelList, KeysAreToldApart) {
  EXPECT_THAT(keys_in("W A S D"), testing::ElementsAre("W", "A", "S", "D"));
  EXPECT_THAT(keys_in(", ."), testing::ElementsAre(",", "."));
  EXPECT_THAT(keys_in("N, Shift N"), testing::ElementsAre("N", "Shift N"));
}

TEST(PanelList, NoTwoPanelsHaveOneTitle) {
  std::set<std::string> titles;
  for (const Panel* const panel : all_panels()) {
    EXPECT_STRNE(panel->title, "");
    // `--panel` takes them in any case.
    EXPECT_TRUE(titles.insert(lower_case(panel->title)).second) << panel->title;
    EXPECT_EQ(find_panel(panel->title), panel);
    EXPECT_NE(panel->draw, nullptr) << panel->title;
  }
  EXPECT_FALSE(titles.contains("timeline") || titles.contains("timeline b") || titles.contains("keys"))
      << "windows of other names";
  EXPECT_EQ(find_panel("Nothing"), nullptr);
}

// Each file that holds a panel has its line in the list.
TEST(PanelList, NoFileIsForgotten) {
  const std::filesystem::path folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "viewer/panels";
  const std::string list = test::read_whole_file(folder / "panels.def");
  const std::string ending = "_panel.cpp";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(ending)) continue;
    ++files;
    const std::string name = file.substr(0, file.size() - ending.size());
    EXPECT_THAT(list, HasSubstr("\nLOCKSTEP_PANEL(" + name + ")"));
    EXPECT_THAT(test::read_whole_file(entry.path()), HasSubstr("\nconst Panel panels::" + name + "{"))
        << file;
  }
  EXPECT_EQ(files, all_panels().size());
}

TEST(PanelList, NoKeyDoesTwoThings) {
  std::set<std::string> keys;
  for (const KeyGroup& group : key_groups())
    for (const KeyHelp& help : group.keys)
      for (const std::string& key : keys_in(help.keys))
        EXPECT_TRUE(keys.insert(lower_case(key)).second) << key;
  for (const Panel* const panel : all_panels()) {
    if (*panel->key.typed == '\0') continue;
    EXPECT_TRUE(keys.contains(lower_case(panel->key.typed)))
        << panel->title << "'s is not in the list of keys";
    EXPECT_STRNE(panel->key.does, "") << panel->title;
  }
}

TEST(PanelList, ThePageOnTheViewerSaysWhatEachPanelShows) {
  const std::string page =
      test::read_whole_file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "docs/viewing.md");
  for (const Panel* const panel : all_panels())
    EXPECT_THAT(page, HasSubstr("\n| " + std::string(panel->title) + " | "));
}

TEST(PanelList, WhatComparesTwoRunsIsThereOnlyWithTwo) {
  EXPECT_EQ(panels_for(true).size(), all_panels().size());
  EXPECT_THAT(panels_for(true), testing::Contains(&panels::diff));
  EXPECT_THAT(panels_for(false), testing::Not(testing::Contains(&panels::diff)));
  EXPECT_THAT(panels_for(false), testing::Contains(&panels::overview));
}

// Kept arrangements know panels by their titles, and stacks have their tabs in this order.
TEST(PanelList, TitlesAndTheirOrderAreThoseOfKeptArrangements) {
  std::vector<std::string> titles;
  for (const Panel* const panel : all_panels()) titles.emplace_back(panel->title);
  const std::vector<std::string> kept{"Overview", "Findings", "Collectives", "Search",    "Details", "Range",
                                      "Notes",    "Diff",     "Steps",       "Imbalance", "Counters"};
  std::erase_if(titles,
                [&](const std::string& title) { return std::ranges::find(kept, title) == kept.end(); });
  EXPECT_EQ(titles, kept) << "new panels may stand between these";
}

TEST(PanelList, APanelKeepsItsStateOfEachRunThatItShows) {
  const auto scene = scene_of(synthetic_job());
  const PanelStates first(*scene);
  const PanelStates second(*scene, true);
  EXPECT_NE(first.find(panels::search), nullptr);
  EXPECT_EQ(second.find(panels::search), nullptr) << "it is about A alone";
  EXPECT_NE(second.find(panels::range), nullptr);
  EXPECT_EQ(first.find(panels::overview), nullptr) << "it keeps nothing";
  EXPECT_FALSE(first.busy());
}

TEST(PanelList, APanelKnowsWhetherARunHasWhatItNeeds) {
  const auto scene = scene_of(synthetic_job());
  EXPECT_TRUE(panels::steps.needs(*scene));
  SyntheticOptions one_step;
  one_step.steps = 1;
  EXPECT_FALSE(panels::steps.needs(*scene_of(synthetic_job(one_step)))) << "there is nothing to compare";
}

}  // namespace
}  // namespace lockstep::viewer
