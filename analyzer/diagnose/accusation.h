// Which of the ranks that are late is accused of it, and why not the others: findings, lateness and blame of
// a report say one thing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/lateness/late_by_cause.h"

namespace lockstep::analyzer {

// What the others waited for the rank beyond a pipeline's schedule, where that is worth a finding and no rank
// without a record may have come later.
std::optional<BlameReport> blame_worth_accusing(const FindingContext& context, std::int32_t rank);

// Every rank has a window that is known, of which losses are shares: none has no steps where others have, nor
// a record with holes.
bool all_have_windows(const Report& report);

// Of a finding whose loss leaves ranks out for that reason.
inline constexpr const char* kOnlyKnownSteps =
    "only the time of ranks whose steps are known is counted as lost";

// Of what the others waited for the rank, what lies in such windows.
std::int64_t lost_by_others(const FindingContext& context, const BlameReport& blame);

// Why the rank may be late in these steps for want of a core alone; nothing where it may not. cores_shared:
// its host's cores do not suffice. cores_unknown: it computes on the CPU and is late for transfers within its
// host, which the cores carry out, and by nothing else that is half of it; or computes longer where ranks of
// its host wait for a core for a hundredth of their steps, by less than the others compute at all, and has no
// evidence of its own for it, for processes of one job differ by as much there with the same work; or nothing
// was recorded of its waiting for a core, another rank is on its host, what it computes moves from step to
// step by 4 % of a step, as that of healthy ranks does on busy cores, and what it does longer has no evidence
// of its own (more work, garbage collections, idling or loading four times as long as the others).
std::optional<NotAccused> for_want_of_cores(const FindingContext& context, const StepTable& steps,
                                            const RankLateness& late);

// What the rank does longer in these steps is waiting for a core that other ranks of its host may use as
// well: who of them has to is the scheduler's choice.
bool waits_for_a_shared_core(const FindingContext& context, const StepTable& steps, const RankLateness& late);

// As that, where the other ranks that may use the same cores hardly wait for one: another program, or a
// thread that does not train, has one, and which rank that holds up is the scheduler's choice.
bool lacks_a_core_alone(const FindingContext& context, const StepTable& steps, const RankLateness& late);

// A rank (an index) that is not late throughout by how late it is ready, but does one thing longer by so much
// that it is accused of that (docs/statistics.md): cause, cause_ns, others_ns, mean_ns and share are of that.
// Not of pipelines.
std::optional<RankLateness> late_by_one_cause(const FindingContext& context, LateByCause& by_cause,
                                              std::size_t rank);

// What its stage of a pipeline has to compute is all that is known of why it is late (LateReason::code):
// either unbalanced_stages says that it is more, or half of what the rank is late by may be that.
bool may_be_its_stages_work(const FindingContext& context, std::string_view reason, const RankLateness& late);

// Whether a finding says that a rank is late, or that its link makes it late.
bool is_about_lateness(const Finding& finding);

// Sets RankLateness::accused_by, not_accused_because, is_late and cause (of ranks that are late in another
// way than throughout) and BlameReport::persistent by what the findings say.
void settle_lateness(const FindingContext& context, const std::vector<Finding>& findings, Report& report);

}  // namespace lockstep::analyzer
