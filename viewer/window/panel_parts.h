// The panels around the timeline. They show what the report says and what is selected; clicks go through
// Commands.
#pragma once

#include <optional>
#include <span>

#include "viewer/timeline/describe.h"
#include "viewer/timeline/scene.h"
#include "viewer/views/command.h"
#include "viewer/views/diff.h"
#include "viewer/views/range_statistics.h"
#include "viewer/window/fonts.h"

namespace lockstep::viewer {

// Title of the run, legend of the causes that occur, and a banner where files are damaged or ranks missing.
// `other`: what it is compared with; nullptr: nothing.
void draw_header(const Scene& scene, const Scene* other, const Theme& theme, const Fonts& fonts,
                 float height);
float header_height(const Scene& scene, const Scene* other, const Fonts& fonts);

Command draw_overview(const Scene& scene, const Theme& theme, const Fonts& fonts, const std::string& verdict);
Command draw_details(const Scene& scene, const TimelineState& state, const Theme& theme, const Fonts& fonts);
// Of what is under the pointer, which is at `time`.
void draw_tooltip(const Scene& scene, const Hit& hit, Nanoseconds time, const Theme& theme,
                  const Fonts& fonts);

Command draw_findings(const Scene& scene, const Theme& theme, const Fonts& fonts);
// Where a finding can be seen best.
Command show_finding(const Scene& scene, const analyzer::Finding& finding);
// Figures of TimelineState::measured.
Command draw_range(const Scene& scene, const TimelineState& state, RangeStatistics& statistics,
                   const Theme& theme, const Fonts& fonts);
// `step`: absent, the whole run.
void draw_imbalance(const Scene& scene, std::optional<std::int64_t> step, const Theme& theme,
                    const Fonts& fonts);
// Two runs by cause; a click on a step goes there in both. `aligned`: at which step the timelines stand
// beside each other; "" where that is not known.
Command draw_diff(const RunDiff& diff, const std::string& aligned, const Scene& a, const Scene& b,
                  const Theme& theme, const Fonts& fonts);
// Counters over the time that the lanes show. `shown`: of these ranks (RankSequence::ranks).
void draw_counters(const Scene& scene, const TimelineState& state, std::span<const std::uint32_t> shown,
                   const Theme& theme, const Fonts& fonts);
// All keys; `open` is cleared when it is closed.
void draw_help(bool& open, const Theme& theme, const Fonts& fonts);

// Building blocks.
void draw_facts(const char* id, const std::vector<Fact>& facts, const Theme& theme);
void heading(const char* text, const Fonts& fonts, const Theme& theme);
// Text that ends at the right edge of the table's cell.
void right_aligned(const std::string& text, std::optional<Color> color = std::nullopt);
// A column's title, with what it counts beside the pointer.
void column_title(const char* title, const char* what, const Theme& theme);
// A stacked bar of shares (0 to 1 of the width) in the current cell.
struct Share {
  double share = 0;
  Color color;
  bool hatched = false;
};
// Of a bar that is `scale` ns long.
std::vector<Share> shares_of(const analyzer::Partition& partition, std::int64_t scale, const Theme& theme);
void draw_bar(const std::vector<Share>& shares, float height, const Fonts& fonts, const Theme& theme);

}  // namespace lockstep::viewer
