// All collectives as a table: filtered by words, sorted by any column; a click shows one on all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "viewer/panels/panel.h"
#include "viewer/views/collectives_table.h"

namespace lockstep::viewer {

class CollectivesPanel final : public PanelState {
 public:
  explicit CollectivesPanel(const Scene& scene) : scene_(scene), table_(scene) {}
  Command draw(std::optional<std::uint32_t> lit, const Theme& theme, const Fonts& fonts);
  const CollectivesTable& table() const { return table_; }

 private:
  const Scene& scene_;
  CollectivesTable table_;
  std::array<char, 256> filter_{};
};

}  // namespace lockstep::viewer
