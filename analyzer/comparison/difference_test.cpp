#include "analyzer/comparison/difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lockstep::analyzer {
namespace {

Sample sample(std::vector<double> values) {
  return sample_of(values);
}

TEST(Sample, OfOneRunHasNoSpread) {
  EXPECT_EQ(sample({}).runs, 0U);
  EXPECT_EQ(sample({7}).mean, 7);
  EXPECT_FALSE(sample({7}).deviation);
  EXPECT_DOUBLE_EQ(*sample({1, 2, 3, 4}).deviation, std::sqrt(5.0 / 3));
}

// Student's own ten patients (Biometrika 1908), as two independent samples; figures of R's t.test().
TEST(Difference, IsWelchs) {
  const Sample first = sample({0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0});
  const Sample second = sample({1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4});
  const Difference found = difference(second, first);
  EXPECT_NEAR(found.estimate, 1.58, 1e-12);
  EXPECT_NEAR(found.degrees, 17.776, 0.001);
  EXPECT_NEAR(found.estimate / *found.standard_error, 1.8608, 0.0001);
  EXPECT_NEAR(*chance_as_high(found), 0.07939 / 2, 0.00001);
  EXPECT_NEAR(*chance_as_low(found), 1 - 0.07939 / 2, 0.00001);
  EXPECT_NEAR(*lower_bound(found, 0.975), -0.2055, 0.0001);
  EXPECT_NEAR(*upper_bound(found, 0.975), 3.3655, 0.0001);
}

TEST(Difference, OfAFactorVariesMore) {
  const Sample head = sample({103, 104, 105}), base = sample({99, 100, 101});
  const Difference plain = difference(head, base), with_factor = difference(head, base, 1.03);
  EXPECT_NEAR(with_factor.estimate, 1, 1e-12);
  EXPECT_GT(*with_factor.standard_error, *plain.standard_error);
}

TEST(Difference, ASingleRunIsTakenToVaryAsTheOthers) {
  const Sample one = sample({110}), many = sample({99, 100, 101, 100});
  const Difference found = difference(one, many);
  EXPECT_DOUBLE_EQ(*found.standard_error, *many.deviation * std::sqrt(1 + 1.0 / 4));
  EXPECT_EQ(found.degrees, 3);
  EXPECT_EQ(difference(many, one).degrees, 3);
  EXPECT_FALSE(difference(one, one).standard_error);
  EXPECT_FALSE(chance_as_high(difference(one, one)));
  EXPECT_FALSE(lower_bound(difference(one, one), 0.95));
}

TEST(Difference, WhatNeverVariesIsCertain) {
  const Sample same = sample({5, 5, 5}), more = sample({6, 6});
  EXPECT_EQ(*chance_as_high(difference(more, same)), 0);
  EXPECT_EQ(*chance_as_high(difference(same, more)), 1);
  EXPECT_EQ(*chance_as_high(difference(same, same)), 0.5);
  EXPECT_EQ(*lower_bound(difference(more, same), 0.99), 1);
}

TEST(Difference, FromABoundIsOneSample) {
  const Difference found = difference_from(sample({9, 10, 11}), 8);
  EXPECT_EQ(found.estimate, 2);
  EXPECT_EQ(found.degrees, 2);
  EXPECT_NEAR(*chance_as_high(found), 0.03709, 0.0001);  // t = 2 * sqrt(3)
}

}  // namespace
}  // namespace lockstep::analyzer
