#include "viewer/timeline/canvas.h"

#include <gtest/gtest.h>

#include "analyzer/report/unicode.h"
#include "viewer/testing/recording_canvas.h"

namespace lockstep::viewer {
namespace {

TEST(Fitted, ShowsWhatFitsWhole) {
  const RecordingCanvas canvas;
  EXPECT_EQ(fitted(canvas, "matmul", 6 * RecordingCanvas::kCharacter, Font::small), "matmul");
}

TEST(Fitted, CutsAtACharacterAndSaysSo) {
  const RecordingCanvas canvas;
  EXPECT_EQ(fitted(canvas, "matmul", 5 * RecordingCanvas::kCharacter, Font::small), "matm…");
  EXPECT_EQ(fitted(canvas, "ääääää", 4 * RecordingCanvas::kCharacter, Font::small), "äää…");
  EXPECT_EQ(fitted(canvas, "matmul", RecordingCanvas::kCharacter, Font::small), "");
  EXPECT_EQ(fitted(canvas, "matmul", 0, Font::small), "");
}

TEST(Fitted, LooksOnlyAtTheBeginningOfAHugeName) {
  const RecordingCanvas canvas;
  std::string huge;
  for (int i = 0; i < 50'000; ++i) huge += "ü";  // 100 kB
  const std::string shown = fitted(canvas, huge, 1e6F, Font::small);
  EXPECT_LT(shown.size(), 600u);
  EXPECT_TRUE(analyzer::is_valid_utf8(shown));
  EXPECT_TRUE(shown.ends_with("…"));
}

TEST(Fitted, ShowsBrokenNamesAsValidText) {
  const RecordingCanvas canvas;
  const std::string shown = fitted(canvas, std::string("a\xFF\n\0b", 5), 1e6F, Font::small);
  EXPECT_TRUE(analyzer::is_valid_utf8(shown));
  EXPECT_EQ(shown.find('\n'), std::string::npos);
  EXPECT_EQ(shown.find('\0'), std::string::npos);
}

TEST(LinesOf, BreakBetweenWords) {
  const RecordingCanvas canvas;
  const auto lines = [&](const std::string& text, int characters, std::size_t most = 10) {
    return lines_of(canvas, text, RecordingCanvas::kCharacter * static_cast<float>(characters), Font::normal,
                    most);
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines("one two three", 20), Lines{"one two three"});
  EXPECT_EQ(lines("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(lines("one two three", 6), (Lines{"one", "two", "three"}));
  EXPECT_EQ(lines("one two three", 6, 2), (Lines{"one", "two t…"})) << "the rest is cut, and it shows";
  EXPECT_EQ(lines("a verylongword b", 6), (Lines{"a", "veryl…", "b"}));
  EXPECT_EQ(lines("", 6), Lines{});
  EXPECT_EQ(lines("one", 6, 0), Lines{});
  EXPECT_EQ(lines(std::string(100'000, 'x'), 6).size(), 1U);
}

}  // namespace
}  // namespace lockstep::viewer
