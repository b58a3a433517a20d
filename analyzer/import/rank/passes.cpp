#include "analyzer/import/rank/passes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/numbers.h"

namespace lockstep::analyzer {
namespace {

struct KnownFunction {
  std::string_view name;
  Pass pass;
};

constexpr KnownFunction kFunctions[] = {
    {"forward_step", Pass::forward},       {"backward_step", Pass::backward},
    {"forward-compute", Pass::forward},    {"backward-compute", Pass::backward},
    {"_exec_forward_pass", Pass::forward}, {"_exec_backward_pass", Pass::backward},
    {"ForwardPass", Pass::forward},        {"BackwardPass", Pass::backward},
    {"forward_one_chunk", Pass::forward},  {"backward_one_chunk", Pass::backward},
};

// Too common a word to stand for a microbatch's pass anywhere else.
constexpr KnownFunction kOfDeepSpeed[] = {
    {"DeepSpeedEngine.forward", Pass::forward},
    {"DeepSpeedEngine.backward", Pass::backward},
    {"PipelineEngine.forward", Pass::forward},
    {"PipelineEngine.backward", Pass::backward},
};

// "megatron/core/pipeline_parallel/schedules.py(264): forward_step", "PipelineEngine._exec_forward_pass".
std::string_view function_in(std::string_view name) {
  const std::size_t last = name.find_last_of(" ./:");
  return last == name.npos ? name : name.substr(last + 1);
}

std::optional<NamedPass> numbered(Pass pass, std::string_view digits) {
  const std::optional<std::int32_t> microbatch = parse_number<std::int32_t>(digits, 0);
  if (!microbatch) return std::nullopt;
  return NamedPass{pass, *microbatch};
}

std::optional<NamedPass> pass_of_function(std::string_view name) {
  switch (name.back()) {
    case 'p':  // …_step
    case 's':  // …_pass
    case 'k':  // …_chunk
    case 'e':  // …-compute
      for (const KnownFunction& known : kFunctions)
        if (name.ends_with(known.name) && function_in(name) == known.name) return NamedPass{known.pass};
      return std::nullopt;
    case 'd':
      for (const KnownFunction& known : kOfDeepSpeed)
        if (name.ends_with(known.name)) return NamedPass{known.pass};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// "PP:1F3": the forward pass of microbatch 3 on stage 1. I and W are the halves of a backward pass.
std::optional<NamedPass> pass_of_action(std::string_view action) {
  std::size_t stage = 0;
  while (stage < action.size() && is_digit(action[stage])) ++stage;
  if (stage == 0 || stage == action.size()) return std::nullopt;
  const char kind = action[stage];
  if (kind != 'F' && kind != 'B' && kind != 'I' && kind != 'W') return std::nullopt;
  return numbered(kind == 'F' ? Pass::forward : Pass::backward, action.substr(stage + 1));
}

std::optional<NamedPass> pass_with_number(std::string_view name) {
  constexpr std::string_view kForward = "Forward ", kBackward = "Backward ", kAction = "PP:";
  if (name.starts_with(kAction)) return pass_of_action(name.substr(kAction.size()));
  if (name.starts_with(kForward)) return numbered(Pass::forward, name.substr(kForward.size()));
  if (name.starts_with(kBackward)) return numbered(Pass::backward, name.substr(kBackward.size()));
  // "forward_step 12": that may be the number of the iteration.
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  while (!name.empty() && std::string_view(" _#:-=").find(name.back()) != name.npos) name.remove_suffix(1);
  return name.empty() ? std::nullopt : pass_of_function(name);
}

// The step that a time lies in, as an index; kNone outside of all.
std::uint32_t step_at(const RankTrace& trace, Nanoseconds time) {
  const auto next = std::upper_bound(trace.steps.begin(), trace.steps.end(), time,
                                     [](Nanoseconds t, const StepMark& step) { return t < step.begin; });
  if (next == trace.steps.begin() || time > (next - 1)->end) return kNone;
  return static_cast<std::uint32_t>(next - 1 - trace.steps.begin());
}

void keep_outermost(std::vector<PassRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const PassRange& a, const PassRange& b) {
    return std::tie(a.begin, b.end, a.named.pass, a.named.microbatch) <
           std::tie(b.begin, a.end, b.named.pass, b.named.microbatch);
  });
  std::vector<PassRange> kept;
  for (const PassRange& range : ranges)
    if (kept.empty() || range.begin >= kept.back().end) kept.push_back(range);
  ranges = std::move(kept);
}

void number_microbatches(const RankTrace& trace, std::vector<PassRange>& ranges) {
  std::map<std::pair<std::uint32_t, Pass>, std::int32_t> counts;
  for (PassRange& range : ranges) {
    if (range.named.microbatch >= 0) continue;
    range.named.microbatch = counts[{step_at(trace, range.begin), range.named.pass}]++;
  }
}

}  // namespace

std::optional<NamedPass> microbatch_pass(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (is_digit(name.back())) return pass_with_number(name);
  return pass_of_function(name);
}

void give_passes(std::vector<PassRange> ranges, RankTrace& trace) {
  if (ranges.empty()) return;
  keep_outermost(ranges);
  number_microbatches(trace, ranges);
  std::map<Computation, std::uint32_t> known;
  for (std::uint32_t index = 0; index < trace.computations.size(); ++index)
    known.emplace(trace.computations[index], index);
  for (Activity& activity : trace.activities) {
    if (activity.activity_class != Class::compute || activity.compute != kNone ||
        activity.launch_begin == kUnknownTime)
      continue;
    const auto next =
        std::upper_bound(ranges.begin(), ranges.end(), activity.launch_begin,
                         [](Nanoseconds time, const PassRange& range) { return time < range.begin; });
    if (next == ranges.begin() || activity.launch_begin >= (next - 1)->end) continue;
    const NamedPass& named = (next - 1)->named;
    const auto [entry, fresh] = known.emplace(Computation{-1, named.microbatch, named.pass},
                                              static_cast<std::uint32_t>(trace.computations.size()));
    if (fresh) trace.computations.push_back(entry->first);
    activity.compute = entry->second;
  }
}

}  // namespace lockstep::analyzer
