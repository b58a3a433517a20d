#include "analyzer/metrics/pipeline_schedule.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace lockstep::analyzer {
namespace {

using Items = std::vector<PassItem>;

std::set<std::int32_t> microbatches_of(const Items& items) {
  std::set<std::int32_t> numbers;
  for (const PassItem& item : items) numbers.insert(item.microbatch);
  return numbers;
}

// Whether each microbatch passes each chunk once forward and once backward.
bool is_complete(const Items& items, std::size_t microbatches, std::size_t chunks) {
  const std::set<PassItem> distinct(items.begin(), items.end());
  return distinct.size() == items.size() && items.size() == 2 * microbatches * chunks;
}

// Within each chunk, forwards and backwards in the order of microbatches.
bool is_in_order(const Items& items) {
  std::vector<PassItem> seen;
  for (const PassItem& item : items) {
    const auto before = std::find_if(seen.begin(), seen.end(), [&](const PassItem& other) {
      return other.forward == item.forward && other.chunk == item.chunk;
    });
    if (before == seen.end()) {
      seen.push_back(item);
    } else if (before->microbatch > item.microbatch) {
      return false;
    } else {
      *before = item;
    }
  }
  return true;
}

// `first` forwards, then backward and forward in turn, then the backwards that are left.
bool alternates_after(const Items& items, std::int64_t first) {
  const auto forwards = static_cast<std::int64_t>(items.size() / 2);
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(items.size()); ++at) {
    // From the first backward on, forwards stand at odd places as long as there are some.
    const std::int64_t after = at - first;
    const bool forward = after < 0 || (after % 2 == 1 && first + after / 2 < forwards);
    if (items[static_cast<std::size_t>(at)].forward != forward) return false;
  }
  return true;
}

bool follows(const std::vector<Items>& stages, Schedule schedule, std::int64_t microbatches,
             std::int64_t chunks) {
  const auto count = static_cast<std::int64_t>(stages.size());
  for (std::int64_t stage = 0; stage < count; ++stage) {
    const Items& items = stages[static_cast<std::size_t>(stage)];
    if (schedule != Schedule::gpipe && !is_in_order(items)) return false;
    if (!alternates_after(items,
                          forwards_before_first_backward(schedule, stage, count, microbatches, chunks)))
      return false;
  }
  return true;
}

// By microbatch: backward passes, forward passes.
std::map<std::int32_t, std::array<std::int32_t, 2>> counts_of(const Items& items) {
  std::map<std::int32_t, std::array<std::int32_t, 2>> counts;
  for (const PassItem& item : items) ++counts[item.microbatch][item.forward ? 1 : 0];
  return counts;
}

// Whether a stage of so many chunks comes back to its backward passes for the gradients of the weights: each
// one is then two, or one where nothing stands between them.
bool splits_backward(const Items& items, std::int32_t chunks) {
  bool any = false;
  for (const auto& [microbatch, count] : counts_of(items)) {
    const auto [backward, forward] = count;
    if (forward != chunks || backward < chunks || backward > 2 * chunks) return false;
    any = any || backward > chunks;
  }
  return any;
}

// Gives each pass of a stage its chunk where nothing but microbatches is known: a microbatch comes through
// the chunks of a stage in order, and its gradients back through them in reverse. Returns how many there are;
// 1, and nothing changed, where the microbatches do not all come equally often. Nothing is changed either
// where backward passes are split.
std::int32_t tell_chunks(Items& items) {
  const std::map<std::int32_t, std::array<std::int32_t, 2>> counts = counts_of(items);
  // Passes without a number say nothing of how often one comes.
  if (counts.empty() || counts.begin()->first < 0) return 1;
  const std::int32_t chunks = counts.begin()->second[1];
  if (splits_backward(items, chunks)) return chunks;
  const bool equal = std::all_of(counts.begin(), counts.end(), [chunks](const auto& count) {
    return count.second[0] == chunks && count.second[1] == chunks;
  });
  if (!equal || chunks < 2) return 1;
  std::map<std::int32_t, std::array<std::int32_t, 2>> seen;
  for (PassItem& item : items) {
    const std::int32_t before = seen[item.microbatch][item.forward ? 1 : 0]++;
    item.chunk = item.forward ? before : chunks - 1 - before;
  }
  return chunks;
}

// How many chunks each stage has if `passes` forwards are those of all chunks together; 1 where the order is
// not interleaved. Interleaving wants whole rounds of microbatches over the stages.
std::int64_t chunks_of_interleaved(const std::vector<Items>& stages, std::int64_t passes) {
  const auto count = static_cast<std::int64_t>(stages.size());
  for (std::int64_t chunks = 2; chunks * count <= passes; ++chunks) {
    if (passes % (chunks * count) == 0 && follows(stages, Schedule::interleaved, passes / chunks, chunks))
      return chunks;
  }
  return 1;
}

}  // namespace

std::int64_t forwards_before_first_backward(Schedule schedule, std::int64_t stage, std::int64_t stages,
                                            std::int64_t microbatches, std::int64_t chunks) {
  switch (schedule) {
    case Schedule::one_forward_one_backward:
      return std::min(microbatches, stages - stage);
    case Schedule::interleaved: {
      const std::int64_t round = microbatches / std::max<std::int64_t>(1, microbatches / stages);
      // The forward of the first turn stands before its backward.
      return std::min((chunks - 1) * round + 2 * (stages - 1 - stage) + 1, chunks * microbatches);
    }
    case Schedule::gpipe:
    case Schedule::unknown:
      break;
  }
  return microbatches * chunks;
}

std::optional<double> ideal_bubble_ratio(Schedule schedule, std::int64_t stages, std::int64_t microbatches,
                                         std::int64_t chunks) {
  if (schedule == Schedule::unknown || microbatches < 1) return std::nullopt;
  const std::int64_t passes = schedule == Schedule::interleaved ? chunks * microbatches : microbatches;
  return static_cast<double>(stages - 1) / static_cast<double>(passes + stages - 1);
}

RecognisedSchedule recognise(std::vector<Items> stages, std::vector<std::int32_t> chunks, bool layers_known) {
  RecognisedSchedule result;
  if (!layers_known) {
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      if (chunks[stage] == 1) chunks[stage] = tell_chunks(stages[stage]);
    }
  }
  result.chunks = *std::max_element(chunks.begin(), chunks.end());
  std::set<std::int32_t> numbers;
  for (const Items& items : stages) numbers.merge(microbatches_of(items));
  if (numbers.empty() || *numbers.begin() < 0) {
    result.reason.code = PipelineReason::Code::microbatches_unnumbered;
    return result;
  }
  result.microbatches = static_cast<std::int32_t>(numbers.size());
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    if (chunks[stage] != result.chunks) {
      result.reason = {PipelineReason::Code::chunks_differ, static_cast<std::int32_t>(stage), chunks[stage],
                       result.chunks};
      return result;
    }
    if (splits_backward(stages[stage], result.chunks)) {
      result.reason.code = PipelineReason::Code::backward_split;
      return result;
    }
    if (!is_complete(stages[stage], numbers.size(), static_cast<std::size_t>(result.chunks))) {
      result.reason = {PipelineReason::Code::passes_missing, static_cast<std::int32_t>(stage),
                       static_cast<std::int64_t>(numbers.size())};
      return result;
    }
  }
  const std::int64_t m = *result.microbatches;
  for (const Schedule candidate :
       {Schedule::gpipe, Schedule::one_forward_one_backward, Schedule::interleaved}) {
    if ((candidate == Schedule::interleaved) != (result.chunks > 1)) continue;
    if (!follows(stages, candidate, m, result.chunks)) continue;
    result.schedule = candidate;
    return result;
  }
  if (!layers_known && result.chunks == 1) {
    if (const std::int64_t found = chunks_of_interleaved(stages, m); found > 1) {
      result.schedule = Schedule::interleaved;
      result.chunks = static_cast<std::int32_t>(found);
      result.microbatches = static_cast<std::int32_t>(m / found);
      return result;
    }
    result.microbatches.reset();  // they may be passes of several chunks
  }
  result.reason.code = result.chunks > 1 ? PipelineReason::Code::order_not_interleaved
                                         : PipelineReason::Code::order_unrecognised;
  return result;
}

}  // namespace lockstep::analyzer
