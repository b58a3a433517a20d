// Several ranks, and next to no communication that is known as such.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/named_alike.h"
#include "analyzer/diagnose/rendezvous_names.h"
#include "analyzer/model/warns_of.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kCommunicationUnrecognisedRemedies = std::to_array<Remedy>(
    {{"Lockstep",
      "--communication 'REGEX=operation' (with analyze, view and export) for kernels that communicate, on CPUs "
      "for operators or user annotations of a PyTorch profile; the same lines in a file: --communication @FILE"},
     {"PyTorch", "ProfilerActivity.CUDA; on CPUs `lockstep record`, which knows Gloo's operations"}});
constexpr Explanation kCommunicationUnrecognisedExplained{
    .meaning =
        "The job has several ranks, and in what was recorded they do not communicate, or hardly; or kernels "
        "beside their communication may communicate too. Where they do, with kernels of a library that is not "
        "known here, these count as computation, or by their names as nothing: nothing can be said of "
        "waiting in them.",
    .found =
        "Two ranks or more compute, and communication covers less than 0.3 % of their time; or less than 1 %, while "
        "kernels that behave like a rendezvous take more than it. A rendezvous is a kernel that all ranks "
        "run equally often (4 times or more), whose runs begin far apart and end together: over all of them "
        "the ends are at most a quarter as far apart as the begins, and the begins differ by a fifth of the "
        "longest. Where clocks are not related or runs too few, kernels are named whose runs vary from the "
        "first to the third quartile by a third of the median or more. Beside known communication: kernels "
        "that look like communication by name run for 5 % of all time; or a kernel on GPUs that takes as much "
        "behaves like a rendezvous, in most of its runs by themselves, and with no known communication beside "
        "them. Nothing is found where they communicate in steps that an evaluation or a checkpoint leaves "
        "out (the warning `communication_left_out`).",
    .wrong =
        "The ranks are independent of each other (inference, a sweep): then there is nothing to find, and "
        "the figures of computation hold. Or the kernel computes, and ends together on all ranks for another "
        "reason, such as work that evens out what was done before it.",
    .remedies = kCommunicationUnrecognisedRemedies,
};
constexpr FindingKind kUnrecognised{
    .code = "communication_unrecognised",
    .title = "next to no communication between the ranks is recognised",
    .explanation = &kCommunicationUnrecognisedExplained,
};
constexpr auto kCommunicationUnrecognisedKinds = std::to_array<const FindingKind*>({&kUnrecognised});

constexpr std::size_t kRendezvousSaidAtMost = 5, kNamesSaidAtMost = 3;
constexpr std::int64_t kMattersPermille = 50;

// What may communicate, said in a finding.
class Suspects {
 public:
  Suspects(const FindingContext& context, Finding& finding)
      : strings_(context.diagnosis.job.strings), finding_(finding) {}

  void add_named_alike(const std::vector<NamedAlike>& names) {
    for (std::size_t i = 0; i < std::min(names.size(), kNamesSaidAtMost); ++i) {
      finding_.evidence.push_back(fmt::format(
          "it may be {}, by its name: {} on all ranks, {} in all, in no class", strings_.view(names[i].name),
          format_plural(names[i].count, "run"), format_duration(names[i].total_ns)));
      flags_ += (flags_.empty() ? "" : " ") + communication_flag(strings_.view(names[i].name));
    }
    any_ = any_ || !names.empty();
  }

  // But those that are named already.
  void add_rendezvous(const std::vector<RendezvousName>& names, const std::vector<NamedAlike>& named) {
    std::size_t said = 0;
    for (const RendezvousName& name : names) {
      if (said == kRendezvousSaidAtMost) break;
      if (std::ranges::any_of(named, [&](const NamedAlike& one) { return one.name == name.name; })) continue;
      finding_.evidence.push_back(fmt::format(
          "it may be {}: {} on each rank, {} in all; begins up to {} apart, ends within {}",
          strings_.view(name.name), format_plural(name.count, "run"), format_duration(name.total_ns),
          format_duration(name.begins_apart_ns), format_duration(name.ends_apart_ns)));
      add_first(name.name);
      ++said;
    }
  }

  void add_varying(const std::vector<VaryingName>& names) {
    for (std::size_t i = 0; i < std::min(names.size(), kNamesSaidAtMost); ++i) {
      finding_.evidence.push_back(fmt::format(
          "it may be {}: {} on each rank, {} in all, of much different lengths", strings_.view(names[i].name),
          format_plural(names[i].count, "run"), format_duration(names[i].total_ns)));
      add_first(names[i].name);
    }
  }

  bool any() const { return any_; }

  void say_remedy() {
    finding_.remedy =
        any_
            ? fmt::format("if it communicates, say so: {} (or another operation)", flags_)
            : "if the ranks do communicate, say by which kernels (in a PyTorch profile of CPUs: operators or user annotations): --communication "
              "'REGEX=operation'; if they are independent, nothing is wrong";
  }

 private:
  // Of names that only behave so, the first one's flag is example enough.
  void add_first(std::uint32_t name) {
    if (!any_) flags_ = communication_flag(strings_.view(name));
    any_ = true;
  }

  const StringTable& strings_;
  Finding& finding_;
  std::string flags_;
  bool any_ = false;
};

// Where communication is known, or one rank alone is, and more may be communication.
void find_more(const FindingContext& context, std::size_t ranks, std::vector<Finding>& findings) {
  const Job& job = context.diagnosis.job;
  std::vector<NamedAlike> named;
  if (context.is_worth(named_alike_time(job, context.report).all_ns, kMattersPermille))
    named = named_alike(job);
  std::vector<RendezvousName> rendezvous;
  if (ranks > 1 && !context.on_cpu) {
    // Runs outside of steps count too: a kernel that takes much of steady steps takes it of all that there
    // is.
    std::int64_t recorded = 0;
    for (const RankReport& rank : context.report.ranks)
      recorded = saturating_add(recorded, saturating_length(rank.begin_ns, rank.end_ns));
    const std::int64_t least = std::max(recorded, context.all_windows_ns) / 1000 * kMattersPermille;
    rendezvous = rendezvous_beside_known(job, std::max<std::int64_t>(1, least));
  }
  if (named.empty() && rendezvous.empty()) return;
  Finding finding = kUnrecognised.make();
  finding.severity = named.empty() ? "low" : "medium";
  finding.title = "kernels that may communicate are not counted as communication";
  Suspects suspects(context, finding);
  suspects.add_named_alike(named);
  suspects.add_rendezvous(rendezvous, named);
  suspects.say_remedy();
  findings.push_back(std::move(finding));
}

// Where no kernel is known to behave as a collective: whether that could be looked at.
void add_what_can_be_told(const FindingContext& context, const RendezvousSearch& search, Suspects& suspects,
                          Finding& finding) {
  if (search.clocks_related && search.enough_runs) {
    finding.evidence.emplace_back(
        "no kernel begins apart and ends together on all ranks, as a collective would");
    return;
  }
  finding.evidence.push_back(
      fmt::format("whether a kernel ends together on all ranks, as a collective would, can't be told: {}",
                  search.clocks_related ? "none runs equally often on all of them, and 4 times or more"
                                        : "their clocks are not related"));
  const Job& job = context.diagnosis.job;
  const std::int64_t least = std::max<std::int64_t>(1, context.all_windows_ns / 100);
  std::vector<RendezvousName> few = search.of_few_runs;
  std::erase_if(few, [&](const RendezvousName& name) { return name.total_ns < least; });
  if (search.clocks_related && !few.empty()) {
    suspects.add_rendezvous(few, {});
  } else {
    suspects.add_varying(varying_names(job, least));
  }
}

void find_unrecognised(const FindingContext& context, std::vector<Finding>& findings) {
  std::int64_t communication = 0;
  std::size_t ranks = 0;
  for (const RankReport& rank : context.report.ranks) {
    if (!rank.measures.known) continue;
    communication = saturating_add(communication, rank.measures.communication_ns);
    ranks += rank.measures.compute_ns > 0;
  }
  for (const Finding& finding : findings)
    if (finding.alarm != Alarm::none) return;  // a job that failed has other worries
  if (ranks < 2 || context.is_worth(communication, 10) ||
      warns_of(context.report.warnings, "communication_left_out")) {
    find_more(context, ranks, findings);
    return;
  }
  const Job& job = context.diagnosis.job;
  const RendezvousSearch search = search_rendezvous(job);
  const std::vector<NamedAlike> named = named_alike(job);
  std::int64_t of_names = 0;
  for (const RendezvousName& name : search.names) of_names = saturating_add(of_names, name.total_ns);
  for (const NamedAlike& name : named) of_names = saturating_add(of_names, name.total_ns);
  // As little as an accumulation of many microbatches leaves is not implausible, unless kernels look like
  // more.
  constexpr std::int64_t kImplausiblePermille = 3;
  if (communication > 0 && of_names <= communication && context.is_worth(communication, kImplausiblePermille))
    return;
  Finding finding = kUnrecognised.make();
  finding.title = communication == 0
                      ? fmt::format("no communication between the {} ranks is recognised", ranks)
                      : fmt::format("next to no communication between the {} ranks is recognised", ranks);
  if (communication > 0)
    finding.evidence.push_back(
        fmt::format("{} of {}", format_duration(communication), format_duration(context.all_windows_ns)));
  Suspects suspects(context, finding);
  suspects.add_named_alike(named);
  suspects.add_rendezvous(search.names, named);
  finding.severity = suspects.any() ? "medium" : "low";
  if (!suspects.any()) add_what_can_be_told(context, search, suspects, finding);
  suspects.say_remedy();
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::communication_unrecognised{kCommunicationUnrecognisedKinds, find_unrecognised};

}  // namespace lockstep::analyzer
