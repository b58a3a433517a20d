// What the ranks did within the measured range: the analyzer's own figures of it.
#pragma once

#include "viewer/panels/panel.h"
#include "viewer/views/range_statistics.h"

namespace lockstep::viewer {

class RangePanel final : public PanelState {
 public:
  explicit RangePanel(const Scene& scene) : statistics_(scene) {}
  bool busy() const override { return statistics_.busy(); }
  void wait() override { statistics_.wait(); }
  RangeStatistics& statistics() { return statistics_; }

 private:
  RangeStatistics statistics_;
};

}  // namespace lockstep::viewer
