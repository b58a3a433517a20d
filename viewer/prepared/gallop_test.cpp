#include "viewer/prepared/gallop.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace lockstep::viewer {
namespace {

TEST(Gallop, FindsTheFirstFromWhereverItStarts) {
  for (std::size_t end = 0; end < 40; ++end) {
    for (std::size_t answer = 0; answer <= end; ++answer) {
      for (std::size_t from = 0; from <= answer; ++from) {
        for (const std::size_t step : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7},
                                       std::size_t{40}, std::numeric_limits<std::size_t>::max()}) {
          const std::size_t found = gallop(from, end, step, [&](std::size_t i) {
            EXPECT_LT(i, end);
            return i < answer;
          });
          ASSERT_EQ(found, answer) << end << ' ' << from << ' ' << step;
        }
      }
    }
  }
}

TEST(Gallop, ReadsFewAndOnlyNearWhereTheGuessIsRight) {
  constexpr std::size_t kEnd = 1'000'000;
  for (std::size_t answer = 500'000; answer < 500'200; ++answer) {
    int reads = 0;
    std::size_t farthest = 0;
    const std::size_t found = gallop(500'000, kEnd, 100, [&](std::size_t i) {
      ++reads;
      farthest = std::max(farthest, i);
      return i < answer;
    });
    ASSERT_EQ(found, answer);
    ASSERT_LE(reads, 10);
    ASSERT_LE(farthest, 500'000u + 100 + 1 + 200);
  }
}

}  // namespace
}  // namespace lockstep::viewer
