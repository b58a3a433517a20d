#include "analyzer/operators/parts_of_ranks.h"

#include <algorithm>
#include <utility>

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxOthers = 16;

}  // namespace

std::vector<PartTimes> parts_of_ranks(const Job& job, const SlowPartQuestion& question) {
  std::vector<std::int32_t> ranks{question.rank};
  std::vector<std::int32_t> others;
  for (const std::int32_t rank : question.ranks)
    if (rank != question.rank) others.push_back(rank);
  const std::size_t count = std::min(others.size(), kMaxOthers);
  for (std::size_t i = 0; i < count; ++i) ranks.push_back(others[i * others.size() / count]);
  if (ranks.size() < 2 || question.steps.empty()) return {};
  std::vector<PartTimes> all;
  for (const std::int32_t rank : ranks) {
    const auto trace = std::find_if(job.ranks.begin(), job.ranks.end(),
                                    [rank](const RankTrace& one) { return one.rank == rank; });
    if (trace == job.ranks.end()) return {};
    all.push_back(times_of_parts(*trace, job.strings, question.steps));
    if (all.back().empty() || has_modules(all.back()) != has_modules(all.front())) return {};
  }
  return all;
}

}  // namespace lockstep::analyzer
