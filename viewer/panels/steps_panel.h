// The rank × step heat map: what stands out in a run of many steps; a click goes there.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "viewer/panels/panel.h"
#include "viewer/views/heat_map.h"

namespace lockstep::viewer {

class StepsPanel final : public PanelState {
 public:
  explicit StepsPanel(const Scene& scene) : scene_(scene), quantity_(first_quantity(scene)) {}
  Command draw(const Theme& theme, const Fonts& fonts);
  void choose(StepQuantity quantity) { quantity_ = quantity; }
  StepQuantity quantity() const { return quantity_; }
  // Where the cells stood in the last frame.
  const Rect& map_area() const { return map_area_; }
  // The cell clicked last.
  std::optional<HeatCell> selected() const { return selected_; }
  std::optional<std::int64_t> selected_step() const;

 private:
  const HeatMap& map();
  Command go_to(const HeatCell& cell) const;
  void describe(const HeatCell& cell, const Theme& theme, const Fonts& fonts);

  const Scene& scene_;
  StepQuantity quantity_;
  std::array<std::optional<HeatMap>, kStepQuantities> maps_;  // made when first shown
  // What is drawn of the map, as long as nothing of it changes.
  struct Drawn {
    StepQuantity quantity;
    Rect area;
    bool dark;
    std::vector<HeatBox> boxes;
  };
  const std::vector<HeatBox>& boxes(const HeatMap& map, const Theme& theme);
  std::optional<Drawn> drawn_;
  std::optional<HeatCell> selected_;
  Rect map_area_;
};

}  // namespace lockstep::viewer
