// Devices idle although their next work has been launched.
#include <array>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kQueuedRemedies = std::to_array<Remedy>(
    {{"the program",
      "wait_stream() and wait_event() where they are needed only; no default stream beside others"},
     {"Megatron",
      "CUDA_DEVICE_MAX_CONNECTIONS=1 orders launches: needed for some overlaps, harmful to others"},
     {"Gloo", "what is issued is done by two threads of each group: issue fewer, larger operations"}});
constexpr Explanation kQueuedExplained{
    .meaning =
        "The work waits for something on the device: another stream, an event, a copy. On the CPU: for a "
        "thread or a core.",
    .found = "`queued` reaches 5 % of all time: idle, and the launching call had returned.",
    .wrong = "The gaps are launch latency alone: a few µs each, in their thousands.",
    .lost = "all of it",
    .remedies = kQueuedRemedies,
};
constexpr FindingKind kQueued{
    .code = "queued",
    .title = "devices idle although their next work has been launched",
    .cause = Cause::queued,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kQueuedExplained,
};
constexpr auto kQueuedKinds = std::to_array<const FindingKind*>({&kQueued});

void find_queued(const FindingContext& context, std::vector<Finding>& findings) {
  if (!context.is_left_over(findings, Cause::queued, context.total(Cause::queued))) return;
  Finding finding = context.all_of_its_cause(kQueued);
  if (context.on_cpu) finding.title = "ranks compute nothing although their next work has been issued";
  finding.remedy =
      context.on_cpu
          ? "look at what ends where these gaps end (`lockstep view`): on the CPU, what is issued waits for one "
            "of the backend's threads (Gloo has two for each group), which need cores as well"
          : "look at what ends where these gaps end (`lockstep view`): a stream that waits for another one "
            "(wait_stream, wait_event), a synchronising copy, CUDA_DEVICE_MAX_CONNECTIONS=1";
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::queued{kQueuedKinds, find_queued};

}  // namespace lockstep::analyzer
