// A measure of every window that is computed in a file of its own: for each line LOCKSTEP_WINDOW_MEASURE of
// analyzer/report/measures.def the file measure_NAME.cpp of this folder defines window_measures::NAME.
#pragma once

#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/cause_segment.h"
#include "analyzer/report/measures.h"

namespace lockstep::analyzer {

class RankTimeline;

// How one is computed. RankTimeline::measures() calls these for each window that is not empty: each step of
// each rank, each part of a range. So none goes through all that a rank did: what lies in the window is found
// by binary search. Each sets its own member of Measures alone, and leaves it as it is (absent) where the
// trace does not tell.
struct WindowMeasure {
  // Of the window as a whole; called first.
  void (*measure)(const RankTimeline& timeline, Interval window, Measures& measures);
  // Where it has to see why each instant went by: called for each stretch of one cause, in order, while they
  // are found. All stretches together are the window; neighbours may have the same cause.
  void (*add_stretch)(const RankTimeline& timeline, const CauseSegment& stretch,
                      Measures& measures) = nullptr;
  // False where add_stretch() would find nothing in any window of this rank; it is then not called.
  bool (*needs_stretches)(const RankTimeline& timeline) = nullptr;
};

namespace window_measures {

#define LOCKSTEP_MEASURE(type, name, known, meaning)
#define LOCKSTEP_WINDOW_MEASURE(type, name, known, meaning) extern const WindowMeasure name;
#include "analyzer/report/measures.def"

}  // namespace window_measures

}  // namespace lockstep::analyzer
