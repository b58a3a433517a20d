#include "tests/torture/trials.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace lockstep::torture {

namespace {

std::int64_t number_in(const char* variable, std::int64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || text[0] == '\0' ? otherwise : std::atoll(text);
}

}  // namespace

int trials(int few) {
  return static_cast<int>(number_in("LOCKSTEP_TORTURE_TRIALS", few));
}

std::mt19937_64 random_of(const std::string& campaign, int trial) {
  std::vector<std::int64_t> numbers{number_in("LOCKSTEP_TORTURE_SEED", 22), trial};
  numbers.insert(numbers.end(), campaign.begin(), campaign.end());
  std::seed_seq seed(numbers.begin(), numbers.end());
  return std::mt19937_64(seed);
}

std::int64_t between(std::mt19937_64& random, std::int64_t from, std::int64_t to) {
  return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
}

void report(const std::string& campaign, int trials, const std::string& what) {
  const std::string line = fmt::format("{}: {} trials{}{}", campaign, trials, what.empty() ? "" : "; ", what);
  std::printf("torture: %s\n", line.c_str());
  testing::Test::RecordProperty("torture", line);
}

std::string median_and_most(std::vector<std::int64_t> nanoseconds) {
  if (nanoseconds.empty()) return "nothing";
  std::sort(nanoseconds.begin(), nanoseconds.end());
  return fmt::format("median {:.0f} ms, at most {:.0f} ms",
                     static_cast<double>(nanoseconds[nanoseconds.size() / 2]) * 1e-6,
                     static_cast<double>(nanoseconds.back()) * 1e-6);
}

}  // namespace lockstep::torture
