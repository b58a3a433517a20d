// In which line of Python does a rank spend time that the others do not? By looks at the stack of its main
// thread (`record --stacks N`).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct SlowPlaceQuestion {
  std::int32_t rank = 0;            // that is late
  std::vector<std::int32_t> ranks;  // all that are compared, it among them
  std::vector<std::int64_t> steps;  // their numbers
  std::int64_t excess_ns = 0;       // by how much longer it does so in a step, in the mean
};

struct SlowPlace {
  std::string place;           // the line of the function at which the rank is longest beyond the others
  std::int64_t excess_ns = 0;  // mean over steps of the function's time beyond the median of the others
  std::int64_t looks = 0;      // that saw the function, in all steps …
  std::int64_t all_looks = 0;  // … of so many
  std::int64_t others = 0;     // looks that saw it on another rank (median)
  bool is_line = false;        // not of the function, but of the lines of it that no other rank is seen at
};

struct PlaceComparison {
  bool known = false;  // stacks were looked at on all compared ranks
  std::optional<SlowPlace> slow;
};

// The function that is named makes up half of the excess, at most three times as much (a pipeline's stages
// may be in different lines all the time), more than any other, and chance does not: looks are counts, and
// the rank has three standard deviations (Poisson, of own and others' together) more of them. Lines of one
// function count together; where no function is such a place, those of its lines that the other ranks are
// seen at a twentieth as often, at most. O(ranges of places · log steps).
PlaceComparison compare_places(const Job& job, const SlowPlaceQuestion& question);

struct CommonPlace {
  std::string place;
  std::int64_t looks = 0;      // that saw it …
  std::int64_t all_looks = 0;  // … of all in the time in question
};

// The line in which the ranks are seen most often within times (one set a rank, in the job's order): in three
// tenths of the looks there at least, and in nine. O(ranges of places · log times).
std::optional<CommonPlace> most_common_place(const Job& job, std::span<const IntervalSet> times);

// The line in which the rank is seen within its times: in half of the looks there, and in nine, and half as
// often again as in all looks at it. (It is in the call of its training step most of the time, whatever it
// does there.) O(ranges of places · log times).
std::optional<CommonPlace> place_within(const Job& job, std::int32_t rank, const IntervalSet& times);

struct OneRanksPlace {
  std::int32_t rank = 0;
  std::string place;            // the line of the function that was seen most often
  std::int64_t looks = 0;       // that saw the function …
  std::int64_t all_looks = 0;   // … of all at this rank in the time in question
  std::int64_t others = 0;      // looks at the other ranks, at any time, that saw it …
  std::int64_t all_others = 0;  // … of so many
};

// Functions in which one rank alone is seen within its times (one set a rank, in the job's order): three
// tenths of the looks at it there saw the function, nine at least; every other rank was looked at as often in
// all, and a twentieth as many looks at most saw it there. A program that all ranks run shows all of them in
// it, so that this is not chance. Where all are in a function, its lines at which one rank alone is seen are
// such a place. Those that were seen most often first. O(ranges of places · log times).
std::vector<OneRanksPlace> places_of_one_rank(const Job& job, std::span<const IntervalSet> times);

// "load (train.py" of "load (train.py:31), called by main (train.py:60)": the same for all lines of a
// function.
std::string_view function_of_place(std::string_view place);

}  // namespace lockstep::analyzer
