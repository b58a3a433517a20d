// The measures of a window as a list, made of measures.def: how each is called in every document, what it is,
// and where it is known. JSON, exports, sums over steps, the viewer's prepared files and its table of a range
// go by this list, and the documents are tested against it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "analyzer/report/measures.h"

namespace lockstep::analyzer {

// Where the documents have a figure; elsewhere they say null. An optional member that is absent is null too.
enum class KnownWhere : std::uint8_t {
  always,    // but in a window of no length of which nothing is known
  measured,  // Measures::known
  waits,     // and Measures::waits_known
};

struct MeasureField {
  using Time = std::int64_t Measures::*;
  using OptionalTime = std::optional<std::int64_t> Measures::*;
  using Ratio = std::optional<double> Measures::*;

  const char* key;      // "compute_ns"; times end in _ns and are nanoseconds
  const char* meaning;  // in words, without reference to docs/metrics.md
  KnownWhere known = KnownWhere::measured;
  std::variant<Time, OptionalTime, Ratio> member;

  bool is_time() const { return !std::holds_alternative<Ratio>(member); }
};

// In the order of the documents. The causes of the partition are no measures of their own: palette.h lists
// them.
std::span<const MeasureField> measure_fields();

// A whole number of nanoseconds, a finite ratio, or nothing where it is not known.
using MeasureValue = std::variant<std::monostate, std::int64_t, double>;
MeasureValue value_of(const MeasureField& field, const Measures& measures);

// The same of times alone; nothing for a ratio.
std::optional<std::int64_t> time_of(const MeasureField& field, const Measures& measures);

// Adds the times and causes of a window to those of others that it does not overlap. Ratios do not add up and
// are left as they are; a time that one window lacks is the sum of the rest; the sum is known where all
// windows are.
void add_times(const Measures& window, Measures& sum);

}  // namespace lockstep::analyzer
