#include "analyzer/report/page.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

// Whoever writes a line may have forgotten that a name in it is somebody else's.
TEST(Page, LetsNoControlCharacterThrough) {
  for (const bool ascii : {false, true}) {
    Page page({.ascii = ascii});
    page.add(Line{}.text("group dp\x1b[31m").bold("\u009B1m"));
    page.wrap(Line{}.text("kernel \x07"), 2, 4);
    EXPECT_EQ(page.take(), "group dp\\x1B[31m\\x9B1m\n  kernel \\x07\n") << ascii;
  }
}

TEST(Page, ColoursAllTheSame) {
  Page page({.color = ColorDepth::palette256});
  page.add(Line{}.bold("rank\n0"));
  EXPECT_EQ(page.take(), "\x1b[1mrank\\n0\x1b[0m\n");
}

}  // namespace
}  // namespace lockstep::analyzer
