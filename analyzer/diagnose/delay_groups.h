// Which times of a late rank and of the others stand beside each other?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/diagnose/diagnosis.h"

namespace lockstep::analyzer {

// Delays before operations of the same ranks. Sums over them are of equally many times of each rank; sums
// over operations of other groups are not, since a rank has no part in those of a group that it is not in.
struct DelayGroup {
  std::vector<std::uint32_t> ranks;  // as Job::ranks; the late one is among them
  std::size_t late = 0;              // its place there
  // Messages: the other rank is another stage of a pipeline, whose passes come at other times.
  bool are_messages = false;
  // [delay · ranks + place]: from when the ranks left an operation together until this rank came to the one
  // that others waited in.
  std::vector<TimeSpan> spans;
  std::size_t delays() const { return spans.size() / ranks.size(); }

  // What `add(rank, span, sum)` makes of all spans, rank by rank: the late one's, and the others'.
  template <class Sum, class Add>
  std::pair<Sum, std::vector<Sum>> late_and_others(Add add) const {
    std::vector<Sum> sums(ranks.size());
    for (std::size_t i = 0; i < spans.size(); ++i)
      add(ranks[i % ranks.size()], spans[i], sums[i % ranks.size()]);
    std::swap(sums[late], sums.back());
    Sum own = std::move(sums.back());
    sums.pop_back();
    return {std::move(own), std::move(sums)};
  }
};

// `delays` are of one late rank; those are left out before which it is not known when that rank left, or when
// any other did. Of messages and collectives only those are taken that have the greater excess.
std::vector<DelayGroup> delay_groups(const Diagnosis& diagnosis, std::span<const Delay* const> delays);

}  // namespace lockstep::analyzer
