// A figure of a run: one number that a gate can hold against a bound, a baseline or another run. Each has a
// file or shares one with its family; figures.def lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/comparison/direction.h"

namespace lockstep::analyzer {

struct SteadyPart;

enum class Unit : std::uint8_t {
  nanoseconds,
  share,  // 0 to 1
  per_second,
  gigabytes_per_second,
  bytes,
  count,
};
const char* to_string(Unit unit);  // "ns", "share", "1/s", "GB/s", "bytes", "count"
// As people write it: "412 ms", "86.3 %", "2.43 /s".
std::string format_figure(double value, Unit unit);

// Of the job: ""; else "rank 3", "group dp", "group dp all_reduce", "phase checkpoint".
struct ScopedValue {
  std::string scope;
  double value = 0;
};

// What is too little to matter of a step, and of a share.
inline constexpr double kMillisecondOfStep = 1e6, kHundredth = 0.01;

struct FigureKind {
  std::string_view name;     // "step_time"
  std::string_view meaning;  // one line, with what it is a mean of
  Unit unit = Unit::nanoseconds;
  Direction direction = Direction::lower_is_better;
  // What is too little to matter, in the figure's unit: the floor of the tolerance where a policy names none.
  double floor = 0;
  // Of a run's report; nothing where the run does not tell. Never a number that stands for an unknown one.
  std::vector<ScopedValue> (*values)(const SteadyPart& run) = nullptr;
};

}  // namespace lockstep::analyzer
