// The ruler as it is drawn; which times stand on it: time_axis_test.cpp.
#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using Shape = RecordingCanvas::Shape;

TEST(DrawRuler, NoTimeOnTheRulerIsCut) {
  View view;
  for (int end = 700; end < 1'000; end += 7) {
    view.show(0, end);
    int labels = 0;
    for (const RecordingCanvas::Call& label : view.draw().of(Shape::text)) {
      if (label.rect.top < view.regions.ruler.top || label.rect.bottom > view.regions.ruler.bottom) continue;
      ASSERT_LE(label.rect.right, view.regions.ruler.right) << label.text << " until " << end;
      ++labels;
    }
    ASSERT_GT(labels, 0) << end;
  }
}

}  // namespace
}  // namespace lockstep::viewer
