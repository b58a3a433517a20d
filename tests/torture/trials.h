// How often a campaign tries, with what seed, and what it says when it is through.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace lockstep::torture {

// LOCKSTEP_TORTURE_TRIALS where it is set (scripts/torture does), else `few`: every test run tries that
// often.
int trials(int few);

// One stream of random numbers per campaign and trial, the same in every run: a failure can be repeated. With
// LOCKSTEP_TORTURE_SEED another one.
std::mt19937_64 random_of(const std::string& campaign, int trial);
// Uniform in [from, to].
std::int64_t between(std::mt19937_64& random, std::int64_t from, std::int64_t to);

// Prints one line and records it as a property of the test: "kills: 200 trials; lost: median 212 ms, at most
// 583 ms".
void report(const std::string& campaign, int trials, const std::string& what = {});
// "median 212 ms, at most 583 ms"
std::string median_and_most(std::vector<std::int64_t> nanoseconds);

}  // namespace lockstep::torture
