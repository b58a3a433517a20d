#include "reference_trainer/data/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lockstep::trainer {
namespace {

using Offsets = std::vector<std::size_t>;

Sampler::Shape shape(std::size_t world_size, std::size_t rank, std::size_t batch_size,
                     std::size_t accumulation = 1) {
  return {.text_bytes = 1001,
          .sequence_length = 10,
          .batch_size = batch_size,
          .gradient_accumulation = accumulation,
          .world_size = world_size,
          .rank = rank,
          .seed = 5};
}

Sampler make(const Sampler::Shape& of) {
  Result<Sampler> sampler = Sampler::create(of);
  EXPECT_TRUE(sampler.ok());
  return std::move(sampler).value();
}

// All offsets of one step of the job, sorted.
Offsets step_of_job(std::size_t world_size, std::size_t batch_size, std::size_t accumulation,
                    std::size_t step) {
  Offsets all;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    Sampler sampler = make(shape(world_size, rank, batch_size, accumulation));
    for (std::size_t micro_step = 0; micro_step < accumulation; ++micro_step) {
      const Offsets part = sampler.batch(step, micro_step);
      EXPECT_EQ(part.size(), batch_size);
      all.insert(all.end(), part.begin(), part.end());
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Sampler, StepDoesNotDependOnHowItIsSharedOut) {
  for (const std::size_t step : {0u, 1u, 11u, 12u, 40u}) {  // 100 windows: step 12 lies across two epochs
    const Offsets one = step_of_job(1, 8, 1, step);
    EXPECT_EQ(step_of_job(4, 2, 1, step), one);
    EXPECT_EQ(step_of_job(2, 1, 4, step), one);
    EXPECT_EQ(step_of_job(1, 2, 4, step), one);
  }
}

TEST(Sampler, AnEpochIsEveryWindowOnce) {
  Sampler sampler = make(shape(1, 0, 10));
  EXPECT_EQ(sampler.windows(), 100u);
  std::set<std::size_t> seen;
  Offsets first_epoch;
  Offsets second_epoch;
  for (std::size_t step = 0; step < 10; ++step) {
    for (const std::size_t offset : sampler.batch(step, 0)) {
      EXPECT_EQ(offset % 10, 0u);
      EXPECT_LE(offset + 10, 1000u);  // the target after the last token is there too
      EXPECT_TRUE(seen.insert(offset).second);
      first_epoch.push_back(offset);
    }
  }
  EXPECT_EQ(seen.size(), 100u);
  for (std::size_t step = 10; step < 20; ++step) {
    for (const std::size_t offset : sampler.batch(step, 0)) second_epoch.push_back(offset);
  }
  EXPECT_NE(first_epoch, second_epoch);
  EXPECT_THAT(second_epoch, ::testing::UnorderedElementsAreArray(first_epoch));
}

TEST(Sampler, AnyStepCanBeAskedForInAnyOrder) {
  Sampler forwards = make(shape(1, 0, 7));
  Sampler backwards = make(shape(1, 0, 7));
  std::vector<Offsets> in_order;
  for (std::size_t step = 0; step < 40; ++step) in_order.push_back(forwards.batch(step, 0));
  for (std::size_t step = 40; step-- > 0;) EXPECT_EQ(backwards.batch(step, 0), in_order[step]) << step;
}

TEST(Sampler, SeedDecidesTheOrder) {
  Sampler::Shape other = shape(1, 0, 50);
  other.seed = 6;
  EXPECT_EQ(make(shape(1, 0, 50)).batch(0, 0), make(shape(1, 0, 50)).batch(0, 0));
  EXPECT_NE(make(shape(1, 0, 50)).batch(0, 0), make(other).batch(0, 0));
}

TEST(Sampler, OrderIsPinned) {
  // The order must not change with the standard library: runs of different machines are compared.
  Sampler::Shape small{.text_bytes = 6, .sequence_length = 1, .batch_size = 5, .seed = 1};
  EXPECT_EQ(make(small).batch(0, 0), (Offsets{1, 3, 0, 2, 4}));
}

TEST(Sampler, TooShortTextsAreRefused) {
  for (const std::size_t bytes : {0u, 1u, 10u, 80u}) {
    Sampler::Shape of = shape(4, 0, 2);
    of.text_bytes = bytes;
    const Result<Sampler> sampler = Sampler::create(of);
    ASSERT_FALSE(sampler.ok()) << bytes;
    EXPECT_THAT(sampler.error().message, ::testing::HasSubstr(std::to_string(bytes) + " bytes"));
  }
  Sampler::Shape exact = shape(4, 0, 2);
  exact.text_bytes = 81;  // eight windows of ten and the last target
  EXPECT_TRUE(Sampler::create(exact).ok());
}

}  // namespace
}  // namespace lockstep::trainer
