// A rank's device stands still while the others' go on.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/diagnose/stuck_devices.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kDeviceStuckRemedies = std::to_array<Remedy>(
    {{"the machine",
      "Xid errors in `dmesg`; `nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER`; `dcgmi diag -r 3` on its "
      "node"},
     {"the program", "a kernel that never ends: compute-sanitizer, or CUDA_LAUNCH_BLOCKING=1 on that rank"}});
constexpr Explanation kDeviceStuckExplained{
    .meaning =
        "A rank has not ended operations that all the other ranks of their groups have ended. They could end "
        "only because its part was done, so what does not go on is its device, or the thread that watches "
        "it.",
    .found =
        "A hang was noted, and a rank on a GPU has two open operations or more in which every rank needs "
        "every other (all-reduce, all-gather, reduce-scatter, all-to-all, barrier) and which all others have "
        "ended. What such a rank waits in counts for nothing when `hang` names who holds up the others.",
    .wrong =
        "The traces of the others end much later than this rank's: then its operations may have ended "
        "unseen.",
    .remedies = kDeviceStuckRemedies,
};
constexpr FindingKind kDeviceStuck{
    .code = "device_stuck",
    .title = "a rank's device stands still",
    .severity = SeverityRule::high,
    .alarm = Alarm::device,
    .accuses = Accused::rank,
    .explanation = &kDeviceStuckExplained,
};
constexpr auto kDeviceStuckKinds = std::to_array<const FindingKind*>({&kDeviceStuck});

using namespace hang;  // NOLINT(google-build-using-namespace): its words

void find_stuck(const FindingContext& context, std::vector<Finding>& findings) {
  const Job& job = context.diagnosis.job;
  const std::vector<StuckDevice> stuck = find_stuck_devices(job);
  if (stuck.empty() || find_hung_operations(job).empty()) return;
  std::vector<std::int32_t> ranks;
  Finding finding = kDeviceStuck.make();
  for (const StuckDevice& one : stuck) {
    ranks.push_back(job.ranks[one.rank].rank);
    const OpenOperation& operation = one.operation;
    const std::string known =
        fmt::format("has not ended {}, which all the others of its group have{}",
                    describe(job, {operation.group, operation.sequence}, operation),
                    one.operations > 1 ? fmt::format("; nor {} more", one.operations - 1) : "");
    finding.standings.push_back({{ranks.back()}, false, known});
    if (finding.evidence.size() < kMaxNamed)
      finding.evidence.push_back(fmt::format("rank {} {}", ranks.back(), known));
  }
  finding.title = fmt::format("the {} of {} {} still", ranks.size() == 1 ? "device" : "devices", named(ranks),
                              ranks.size() == 1 ? "stands" : "stand");
  finding.remedy = fmt::format(
      "look at {} of {}: Xid errors in the kernel's log, `nvidia-smi -q` for ECC and retired pages, a kernel "
      "that never ends; what others have ended, the network has delivered",
      ranks.size() == 1 ? "the GPU" : "the GPUs", named(ranks));
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::device_stuck{kDeviceStuckKinds, find_stuck};

}  // namespace lockstep::analyzer
