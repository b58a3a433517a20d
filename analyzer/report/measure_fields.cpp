#include "analyzer/report/measure_fields.h"

#include <array>
#include <cmath>

namespace lockstep::analyzer {
namespace {

using Time = MeasureField::Time;
using OptionalTime = MeasureField::OptionalTime;
using Ratio = MeasureField::Ratio;
using enum KnownWhere;

constexpr auto kFields = std::to_array<MeasureField>({
#define LOCKSTEP_MEASURE(type, name, known, meaning) {#name, meaning, known, &Measures::name},
#include "analyzer/report/measures.def"
});

bool is_known(KnownWhere where, const Measures& m) {
  switch (where) {
    case always:
      return m.known || m.window_ns > 0;
    case measured:
      return m.known;
    case waits:
      return m.known && m.waits_known;
  }
  return false;
}

}  // namespace

std::span<const MeasureField> measure_fields() {
  return kFields;
}

MeasureValue value_of(const MeasureField& field, const Measures& measures) {
  if (!is_known(field.known, measures)) return {};
  if (const auto* const time = std::get_if<Time>(&field.member)) return measures.*(*time);
  if (const auto* const time = std::get_if<OptionalTime>(&field.member)) {
    const std::optional<std::int64_t>& value = measures.*(*time);
    return value ? MeasureValue(*value) : MeasureValue();
  }
  const std::optional<double>& ratio = measures.*std::get<Ratio>(field.member);
  return ratio && std::isfinite(*ratio) ? MeasureValue(*ratio) : MeasureValue();
}

std::optional<std::int64_t> time_of(const MeasureField& field, const Measures& measures) {
  const MeasureValue value = value_of(field, measures);
  const auto* const time = std::get_if<std::int64_t>(&value);
  return time != nullptr ? std::optional(*time) : std::nullopt;
}

void add_times(const Measures& window, Measures& sum) {
  sum.known = sum.known && window.known;
  for (const MeasureField& field : kFields) {
    if (const auto* const time = std::get_if<Time>(&field.member)) {
      sum.*(*time) += window.*(*time);
    } else if (const auto* const optional = std::get_if<OptionalTime>(&field.member)) {
      const std::optional<std::int64_t>& more = window.*(*optional);
      std::optional<std::int64_t>& all = sum.*(*optional);
      if (more) all = all.value_or(0) + *more;
    }
  }
  sum.partition.compute_over_communication_ns += window.partition.compute_over_communication_ns;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause)
    sum.partition.ns[cause] += window.partition.ns[cause];
}

}  // namespace lockstep::analyzer
