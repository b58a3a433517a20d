#include "viewer/golden/golden_view.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "tests/temporary_folder.h"
#include "viewer/panels/panel_list.h"

namespace lockstep::viewer {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kFolder = fs::path(LOCKSTEP_SOURCE_DIR) / "viewer/golden";

const std::map<std::string, std::string FirstLookFlags::*> kTexts{
    {"filter", &FirstLookFlags::filter},   {"goto", &FirstLookFlags::go_to},
    {"measure", &FirstLookFlags::measure}, {"order", &FirstLookFlags::order},
    {"panel", &FirstLookFlags::panel},     {"range", &FirstLookFlags::range},
    {"search", &FirstLookFlags::search},
};

// The tabs of every picture. A panel that is added later is left out here.
constexpr std::array kInAllPictures{"Overview", "Findings", "Collectives", "Search",    "Details", "Range",
                                    "Notes",    "Diff",     "Steps",       "Imbalance", "Counters"};

}  // namespace

std::vector<std::string> golden_views() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

GoldenView golden_view(const std::string& name, const Scene& scene) {
  GoldenView view;
  const json description = json::parse(test::read_whole_file(kFolder / (name + ".json")));
  for (const auto& [flag, value] : description.items()) {
    if (const auto text = kTexts.find(flag); text != kTexts.end())
      view.flags.*text->second = value.get<std::string>();
    else if (flag == "collective" && value == "costliest")
      view.flags.collective = scene.collectives()[scene.costliest().front()].id;
    else if (flag == "collective")
      view.flags.collective = value.get<std::int64_t>();
    else if (flag == "pin")
      view.flags.pinned = value.get<std::vector<std::int32_t>>();
    else if (flag == "chain")
      view.flags.chain = value.get<bool>();
    else if (flag == "theme")
      view.dark = value != "light";
    else
      throw std::runtime_error(name + ".json: '" + flag + "' is not understood");
  }
  const Panel* const panel = find_panel(view.flags.panel);
  if (panel == nullptr) throw std::runtime_error(name + ".json: '" + view.flags.panel + "' is no panel");
  for (const Panel* const other : all_panels())
    if (other != panel && std::find(kInAllPictures.begin(), kInAllPictures.end(),
                                    std::string_view(other->title)) == kInAllPictures.end())
      view.left_out.push_back(other);
  // Then there is a second run to compare with.
  view.flags.compared = view.flags.panel_compares = panel->runs == PanelRuns::both;
  return view;
}

}  // namespace lockstep::viewer
