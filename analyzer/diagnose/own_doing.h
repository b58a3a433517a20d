// Where a host has too few cores, who gets less of them is the scheduler's choice. What is a rank's own
// matter all the same?
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/diagnose/finding_context.h"

namespace lockstep::analyzer {

// Every other rank of the rank's host may use more cores than it, and there is one.
bool has_fewer_cores(const Job& job, std::int32_t rank);

// Of the ranks that are short of cores the one whose training threads ran longer than the others', summed
// over the steps: twice as long as the others' median and by a twentieth of its own steps' time, and longer
// than any other's in four of five steps. (By half as much again processes differ with the same work.) Nobody
// where the steps are too few to judge who is late, or one of the ranks is not known in them. The time on a
// core is work, whoever else wants cores.
struct RunsLonger {
  std::int32_t rank = 0;
  std::int64_t ran_ns = 0;
  std::int64_t others_ran_ns = 0;  // the lower median
};
std::optional<RunsLonger> who_runs_longer(const FindingContext& context, const HostShortage& shortage);

// The rank is that one of its host: cores_shared says that it has more to do.
bool is_said_to_run_longer(const FindingContext& context, std::int32_t rank);

// The rank collects garbage in eight of ten of these steps, and for half of its lateness; each other one for
// a tenth of that at most.
bool collects_garbage_alone(const FindingContext& context, const StepTable& steps, const RankLateness& late);

// The rank is late in these steps because it computes longer, and what is left of that when its longer
// waiting for a core is taken out is half of its lateness, and a quarter of what the others compute; or its
// threads run longer than any other's by a quarter, and less than half of its lateness is waiting for a core
// that it had not waited with less to run. (Healthy ranks on busy cores were left less than a tenth of the
// others' compute; how long a computation takes on a core hardly depends on who else wants one.) Or the rank
// is late because it is host-bound or loads data, and a seventh of what it does so longer is left when its
// waiting for a core is taken out of it: a rank that only lacks cores does the same as the others, and takes
// longer for it. Not where it is host-bound and waits longer for a core for half of its lateness, unless that
// is for what it has more to run: it collects garbage in eight of ten steps, for half of its lateness, the
// others for a tenth of that at most, and its threads run longer than any other's by a quarter. Of a
// pipeline's stage that is late by idling instead: a line of Python in which it idles, and which it is not in
// at other times.
bool is_own_doing(const FindingContext& context, const StepTable& steps, const RankLateness& late);

}  // namespace lockstep::analyzer
