// Which times of a late rank and of the others stand beside each other?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/diagnose/diagnosis.h"

namespace lockstep::analyzer {

// Delays before operations of the same ranks. Sums over them are of equally many times of each rank; sums
// over operations of other groups are not, since a rank has no part in those of a group that it is not in.
struct ComparedRanks {
  std::vector<std::uint32_t> ranks;  // as Job::ranks; the late one is among them
  std::size_t late = 0;              // its place there
  // [delay · ranks + place]: from when the ranks left an operation together until this rank came to the one
  // that others waited in.
  std::vector<TimeSpan> spans;
  std::int64_t excess_ns = 0;  // Σ of the delays'
  std::size_t delays() const { return spans.size() / ranks.size(); }
};

// `delays` are of one late rank; those are left out before which it is not known when that rank left, or when
// any other did. So are those before messages, if there are others: who sends or receives is another stage of
// a pipeline, and does something else.
std::vector<ComparedRanks> compared_ranks(const Diagnosis& diagnosis, std::span<const Delay* const> delays);

}  // namespace lockstep::analyzer
