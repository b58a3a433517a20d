#include "analyzer/diagnose/root_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analyzer/diagnose/compute_names.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

// Looking at the costliest few is enough for words, and keeps the search for names short.
constexpr std::size_t kDelaysToName = 8;

std::string_view phrase(Cause cause) {
  switch (cause) {
    case Cause::compute:
      return "it computed for";
    case Cause::transfer:
      return "it moved data for";
    case Cause::barrier_wait:
      return "it waited itself for";
    case Cause::pipeline_bubble:
      return "it waited in a pipeline for";
    case Cause::copy:
      return "it copied memory for";
    case Cause::data_wait:
      return "it waited for data loading for";
    case Cause::host_bound:
      return "its host launched late: the device idled, with nothing launched, for";
    case Cause::queued:
      return "launched work did not start for";
    case Cause::other:
      return "it was idle, for a reason that the trace does not show, for";
  }
  return "it was late by";
}

std::string operations_of(std::size_t count) {
  return count == 1 ? "in 1 operation" : fmt::format("mean of {} operations", count);
}

std::int32_t late_rank(const Diagnosis& diagnosis, const Delay& delay) {
  const auto records = diagnosis.matching.records_of(diagnosis.matching.matches[delay.match]);
  return diagnosis.job.ranks[records[delay.late_record].rank].rank;
}

std::string operation_name(const Diagnosis& diagnosis, std::uint32_t match) {
  const Match& operation = diagnosis.matching.matches[match];
  const std::string& group = diagnosis.matching.groups[operation.group].name;
  std::string text = trace::to_string(operation.operation);
  return group.empty() ? text : fmt::format("{} of group {}", text, group);
}

std::string describe_excess(const Diagnosis& diagnosis, Cause cause, std::span<const Delay* const> delays) {
  if (cause == Cause::compute) {
    if (const auto slow = slowest_computation(diagnosis, delays)) {
      std::string text = fmt::format("compute `{}` took {}, median of the others {} ({})",
                                     diagnosis.job.strings.view(slow->name), format_duration(slow->own_ns),
                                     format_duration(slow->others_ns), operations_of(delays.size()));
      if (slow->own_count > slow->others_count + slow->others_count / 10) {
        text += fmt::format("; it ran {} times, on the others {}", slow->own_count, slow->others_count);
      }
      return text;
    }
  }
  std::int64_t own = 0, others = 0;
  for (const Delay* delay : delays) {
    own += delay->own_ns;
    others += delay->others_ns;
  }
  const auto count = static_cast<std::int64_t>(delays.size());
  return fmt::format("{} {}, median of the others {} ({})", phrase(cause), format_duration(own / count),
                     format_duration(others / count), operations_of(delays.size()));
}

}  // namespace

std::string describe_root_cause(const Diagnosis& diagnosis, const LateCause& cause) {
  if (cause.delays.empty()) return {};
  const std::span<const Delay* const> costliest(cause.delays.data(),
                                                std::min(cause.delays.size(), kDelaysToName));
  const Delay& first = *costliest.front();
  const Delay& root = root_of(diagnosis.delays, first);
  if (&root == &first) return describe_excess(diagnosis, cause.cause, costliest);
  // A chain: say where it leads for the costliest operation.
  const Delay* const end[] = {&root};
  return fmt::format(
      "it waited itself, in {}, for rank {}: there, {}", operation_name(diagnosis, *first.waited_in),
      late_rank(diagnosis, root),
      root.excess_ns > 0 ? describe_excess(diagnosis, root.cause, end) : "nothing explains the delay");
}

}  // namespace lockstep::analyzer
