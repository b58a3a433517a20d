#include "base/sort_by_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

// Can be moved alone, and knows where it stood.
struct Element {
  int first = 0, second = 0;
  std::unique_ptr<std::size_t> stood;
};
std::tuple<int, int> key_of(const Element& element) {
  return {element.first, element.second};
}

void expect_sorted(std::vector<Element> values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i].stood = std::make_unique<std::size_t>(i);
  std::vector<std::tuple<int, int, std::size_t>> expected;
  for (const Element& value : values) expected.emplace_back(value.first, value.second, *value.stood);
  std::sort(expected.begin(), expected.end());
  stable_sort_by_key(values, key_of);
  std::vector<std::tuple<int, int, std::size_t>> sorted;
  for (const Element& value : values) {
    ASSERT_NE(value.stood, nullptr);
    sorted.emplace_back(value.first, value.second, *value.stood);
  }
  EXPECT_EQ(sorted, expected);
}

std::vector<Element> elements(const std::vector<std::pair<int, int>>& keys) {
  std::vector<Element> values;
  for (const auto& [first, second] : keys) values.push_back({first, second, nullptr});
  return values;
}

TEST(SortByKey, OfFew) {
  expect_sorted({});
  expect_sorted(elements({{3, 1}}));
  expect_sorted(elements({{3, 1}, {2, 1}}));
  expect_sorted(elements({{3, 3}, {3, 2}, {1, 9}, {3, 2}}));
}

TEST(SortByKey, ThatAreSortedReversedOrEqual) {
  std::vector<std::pair<int, int>> keys;
  for (int i = 0; i < 100; ++i) keys.emplace_back(i, 0);
  expect_sorted(elements(keys));
  std::reverse(keys.begin(), keys.end());
  expect_sorted(elements(keys));
  expect_sorted(elements(std::vector<std::pair<int, int>>(100, {1, 1})));
}

TEST(SortByKey, IsThatOfTheStandardLibraryForRandomKeys) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto draw = [&](int most) { return std::uniform_int_distribution(0, most)(random); };
    std::vector<std::pair<int, int>> keys(static_cast<std::size_t>(draw(80)));
    for (auto& [first, second] : keys) {
      first = draw(1 + round / 4);
      second = draw(3);
    }
    expect_sorted(elements(keys));
  }
}

}  // namespace
}  // namespace lockstep
