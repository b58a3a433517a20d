// What the host source measures: a list of quantities, and values for all of them at one instant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/events/event.h"
#include "tracer/inject/sources/host/proc_text.h"

namespace lockstep::tracer::host {

struct Quantity {
  // A gauge is plotted as it is. Of a rate the reading only grows, and what is plotted is its growth a second
  // since the point before.
  enum class Kind : std::uint8_t { gauge, rate };
  std::string name;  // "cpu user (cores)": of its lane, unit included
  Kind kind = Kind::rate;
  double scale = 1;  // of a reading of 1
  std::uint32_t device = 0;
};

inline constexpr std::size_t kMaxQuantities = 224;
using Readings = std::array<Amount, kMaxQuantities>;

struct Sample {
  trace::Nanoseconds time = 0;  // CLOCK_MONOTONIC
  Readings readings;
};

// Reads some of the quantities. Made and described on the writer thread; read on the sampling thread, where
// nothing may allocate memory or keep a descriptor open: the program may fork or close all descriptors at any
// time.
class Meter {
 public:
  virtual ~Meter() = default;
  // Appends its quantities: the readings have the same order.
  virtual void describe(std::vector<Quantity>& quantities) = 0;
  virtual void read(Amount* readings) noexcept = 0;
  // What it can't read and why; empty if nothing. On the writer thread, any time after the first read.
  virtual std::string problem() const { return {}; }
};

}  // namespace lockstep::tracer::host
