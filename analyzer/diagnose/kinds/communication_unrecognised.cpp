// Several ranks, and next to no communication that is known as such.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/rendezvous_names.h"
#include "analyzer/model/warns_of.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kCommunicationUnrecognisedRemedies = std::to_array<Remedy>(
    {{"Lockstep",
      "--communication 'REGEX=operation' (with analyze, view and export) for kernels that communicate; the "
      "same lines in a file: --communication @FILE"},
     {"PyTorch", "ProfilerActivity.CUDA; on CPUs `lockstep record`, which knows Gloo's operations"}});
constexpr Explanation kCommunicationUnrecognisedExplained{
    .meaning =
        "The job has several ranks, and in what was recorded they do not communicate, or hardly. Where they "
        "do, with kernels of a library that is not known here, these count as computation: nothing can be "
        "said of waiting, and the time of computation is too long.",
    .found =
        "Two ranks or more compute, and communication covers less than 0.3 % of their time; or less than 1 %, while "
        "kernels that behave like a rendezvous take more than it. A rendezvous is a kernel that all ranks "
        "run equally often (4 times or more), whose runs begin far apart and end together: over all of them "
        "the ends are at most a quarter as far apart as the begins, and the begins differ by a fifth of the "
        "longest. Nothing is found where they communicate in steps that an evaluation or a checkpoint leaves "
        "out (the warning `communication_left_out`).",
    .wrong =
        "The ranks are independent of each other (inference, a sweep): then there is nothing to find, and "
        "the figures of computation hold.",
    .remedies = kCommunicationUnrecognisedRemedies,
};
constexpr FindingKind kUnrecognised{
    .code = "communication_unrecognised",
    .title = "next to no communication between the ranks is recognised",
    .explanation = &kCommunicationUnrecognisedExplained,
};
constexpr auto kCommunicationUnrecognisedKinds = std::to_array<const FindingKind*>({&kUnrecognised});

constexpr std::size_t kMaxNamed = 5;

void find_unrecognised(const FindingContext& context, std::vector<Finding>& findings) {
  std::int64_t communication = 0, compute = 0;
  std::size_t ranks = 0;
  for (const RankReport& rank : context.report.ranks) {
    if (!rank.measures.known) continue;
    communication = saturating_add(communication, rank.measures.communication_ns);
    compute =
        saturating_add(compute, saturating_add(rank.measures.compute_ns, rank.measures.unclassified_ns));
    ranks += rank.measures.compute_ns > 0;
  }
  if (ranks < 2 || compute == 0 || context.is_worth(communication, 10)) return;
  for (const Finding& finding : findings)
    if (finding.alarm != Alarm::none) return;  // a job that failed has other worries
  if (warns_of(context.report.warnings, "communication_left_out")) return;
  const std::vector<RendezvousName> names = rendezvous_names(context.diagnosis.job);
  std::int64_t of_names = 0;
  for (const RendezvousName& name : names) of_names = saturating_add(of_names, name.total_ns);
  // As little as an accumulation of many microbatches leaves is not implausible, unless kernels look like
  // more.
  constexpr std::int64_t kImplausiblePermille = 3;
  if (communication > 0 && of_names <= communication && context.is_worth(communication, kImplausiblePermille))
    return;
  Finding finding = kUnrecognised.make();
  finding.severity = names.empty() ? "low" : "medium";
  finding.title = communication == 0
                      ? fmt::format("no communication between the {} ranks is recognised", ranks)
                      : fmt::format("next to no communication between the {} ranks is recognised", ranks);
  if (communication > 0)
    finding.evidence.push_back(
        fmt::format("{} of {}", format_duration(communication), format_duration(context.all_windows_ns)));
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i) {
    const RendezvousName& name = names[i];
    finding.evidence.push_back(
        fmt::format("it may be {}: {} on each rank, {} in all; begins up to {} apart, ends within {}",
                    context.diagnosis.job.strings.view(name.name), format_plural(name.count, "run"),
                    format_duration(name.total_ns), format_duration(name.begins_apart_ns),
                    format_duration(name.ends_apart_ns)));
  }
  if (names.empty()) {
    finding.evidence.emplace_back(
        "no kernel begins apart and ends together on all ranks, as a collective would");
    finding.remedy =
        "if the ranks do communicate, say by which kernels: --communication 'REGEX=operation'; if they are "
        "independent, nothing is wrong";
  } else {
    finding.remedy =
        fmt::format("if it communicates, say so: --communication '{}=all_reduce' (or another operation)",
                    expression_for(context.diagnosis.job.strings.view(names.front().name)));
  }
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::communication_unrecognised{kCommunicationUnrecognisedKinds, find_unrecognised};

}  // namespace lockstep::analyzer
