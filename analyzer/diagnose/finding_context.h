// Inside diagnose: what every rule looks at, and what several rules compute.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/diagnose/finding_kind.h"
#include "analyzer/diagnose/group_roles.h"
#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/root_waits.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

inline constexpr std::int64_t kLeftOverPermille = 50;

struct FindingContext {
  const Diagnosis& diagnosis;
  const Report& report;  // its ranks and steps are those of steady training, unless all steps are asked for
  std::int64_t all_windows_ns = 0;  // Σ over ranks
  bool on_cpu = false;  // every rank computes on the CPU; a paced device stands for an accelerator
  ScheduledWaits scheduled{diagnosis.job, report, diagnosis.pipeline_regions};  // nobody's lateness
  RootWaits roots{diagnosis.job, report};  // transfer by definition, and nobody's
  ActivationGroups activations{diagnosis.job, report};
  StepTable steps = table_of_steps(diagnosis.job, report, scheduled);
  std::vector<HostShortage> shortages = find_host_shortages(diagnosis.job, report);

  std::int64_t total(Cause cause) const;
  // Of all ranks' waiting, what costs nobody anything that a rank is to blame for (host_pace.h): their own
  // hosts need that time as well; they share a GPU.
  std::int64_t behind_hosts() const;
  std::int64_t behind_gpu(const std::vector<Finding>& findings) const;
  // Every rank is known to be on the same host: no link is part of what they communicate.
  bool is_on_one_host() const;
  // At least this many thousandths of all windows.
  bool is_worth(std::int64_t lost_ns, std::int64_t permille) const;
  // "most on rank 3: 1.20 s; least on rank 0: 3.00 ms", or of one rank "2.31 s of 9.60 s".
  std::string evidence_of(Cause cause) const;
  // Exposed transfer, of one rank and of all, without what a root waits in it for its receivers
  // (root_waits.h): what findings count as lost to moving data.
  std::int64_t moving_ns(const RankReport& rank) const;
  std::int64_t moving_ns() const;
  // "of 5.37 s that count as transfer, 4.10 s are left out: …"; empty where that is under 1 % of all time.
  std::string describe_root_waits() const;
  // Σ over ranks of that which compute of the same rank could cover. Waiting is not cured by overlap.
  std::int64_t coverable_transfer() const;
  // How much longer than the others the ranks are busy with a cause that a finding names as why they are late
  // (Finding::reason): said once, of the rank.
  std::int64_t said_of_late_ranks(const std::vector<Finding>& findings, Cause cause) const;
  // A finding of a kind that has a cause: all of that cause's time is lost, and is its evidence.
  Finding all_of_its_cause(const FindingKind& kind) const;
  // Whether the cause's time, of which this much is lost, is worth a finding of its own: 5 % of all time, or
  // so many thousandths, of which the findings that account for it (FindingKind::accounts) explain less than
  // half.
  bool is_left_over(const std::vector<Finding>& findings, Cause cause, std::int64_t lost_ns,
                    bool between_hosts = false, std::int64_t permille = kLeftOverPermille) const;
};

}  // namespace lockstep::analyzer
