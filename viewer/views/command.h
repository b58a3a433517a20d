// What a panel, a key or a flag wants the timeline to show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

struct Command {
  std::optional<Item> show{};                 // select it, and bring it on screen
  std::optional<std::uint32_t> collective{};  // the same of an operation: index into Scene::collectives()
  std::optional<TimeRange> range{};           // show this time
  std::optional<std::uint32_t> rank{};        // scroll to it: index into Timeline::ranks
  bool drop_selection = false;                // nothing is selected afterwards, but for the above
  bool any() const { return show || collective || range || rank; }
};

// "step=12,rank=3", "time=1.5ms", "collective=17": where to go. Errors name the word that is wrong, and what
// the run has instead.
Result<Command> parse_goto(const Scene& scene, const std::string& text);
// The same without a run: for wrong words before minutes of loading.
Status check_goto(const std::string& text);

// Where a finding is seen best; nothing to show where it has no place.
Command show_finding(const Scene& scene, const analyzer::Finding& finding);

}  // namespace lockstep::viewer
