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
    {"window_ns", "the range, without what nobody recorded", always, &Measures::window_ns},
    {"compute_ns", "something computed", measured, &Measures::compute_ns},
    {"communication_ns", "a collective or a message was under way", measured, &Measures::communication_ns},
    {"overlap_ns", "both at once", measured, &Measures::overlap_ns},
    {"exposed_communication_ns", "communication beside which nothing computed", measured,
     &Measures::exposed_communication_ns},
    {"overlap_ratio", "the share of communication beside which something computed", measured,
     &Measures::overlap_ratio},
    {"overlap_ratio_per_kernel", "the same, operations that run at once counted each", measured,
     &Measures::overlap_ratio_per_kernel},
    {"collective_wait_ns", "waiting in collectives beside which nothing computed", waits,
     &Measures::collective_wait_ns},
    {"hidden_collective_wait_ns", "waiting in collectives, hidden behind compute", waits,
     &Measures::hidden_collective_wait_ns},
    {"p2p_wait_ns", "waiting for messages beside which nothing computed", waits, &Measures::p2p_wait_ns},
    {"hidden_p2p_wait_ns", "waiting for messages, hidden behind compute", waits,
     &Measures::hidden_p2p_wait_ns},
    {"unclassified_ns", "what looks like communication and could not be told", measured,
     &Measures::unclassified_ns},
    {"off_cpu_ns", "within computation, no training thread was on a core or waited for one", measured,
     &Measures::off_cpu_ns},
    {"run_queue_ns", "a training thread was ready to run and waited for a core", measured,
     &Measures::run_queue_ns},
    {"on_core_ns", "training threads ran: their sum, computing or not", measured, &Measures::on_core_ns},
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
