// Who is late again and again, beyond chance and by an amount that matters? docs/statistics.md has the
// method, its sources and its measured error rates.
#pragma once

#include "analyzer/lateness/step_table.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// The chance that a job of healthy ranks has a rank called late, at most, of one job and all its ranks
// together: over a whole run; and by each of the other ways to be late (late_since.h, periodic_lateness.h,
// late_by_cause.h), of which there are more. Over a whole run the standard error of the mean decides more
// often than chance does.
inline constexpr double kWholeRunLevel = 0.005;
inline constexpr double kLatenessLevel = 0.002;
// Of a step: a rank that is late by less is a figure in the table of ranks.
inline constexpr double kLeastLateness = 0.02;
// For which LatenessReport::steps_to_tell stands. Of a rank that is late by just the least, half of all runs
// show less, however many steps they have.
inline constexpr double kLatenessToTell = 0.03;

// A rank is late where all of this holds:
//  - in twelve blocks of consecutive steps it is later than the other ranks more often than chance
//    (place_sums.h; of two ranks signed_ranks.h), at `level` over all ranks together;
//  - the mean over steps stands out of what it moves by from step to step (standing_out.h), or
//    most single steps do;
//  - in the mean over steps it is late by kLeastLateness of a step;
//  - that mean is larger than the standard deviation of its blocks' means: a rank whose own mean moves about
//    as far as it lies is not late, it is unsteady;
//  - both halves of the run show at least half of kLeastLateness;
//  - the mean is larger than what the clocks leave open.
// can_tell is false where the run has too few steps for any of this (blocks_needed), or fewer than two ranks
// are known.
LatenessReport judge_lateness(const StepTable& table, const Report& report, double level = kWholeRunLevel);

}  // namespace lockstep::analyzer
