// Nothing runs but copies of memory.
#include <array>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kExposedCopiesRemedies = std::to_array<Remedy>(
    {{"PyTorch",
      "pin_memory=True and .to(device, non_blocking=True) on a stream of its own, one batch ahead"},
     {"DeepSpeed", "pin_memory: true in offload_param and offload_optimizer"}});
constexpr Explanation kExposedCopiesExplained{
    .meaning = "Copies between host and device, or within it, with nothing beside them.",
    .found = "`copy` reaches 3 % of all time.",
    .wrong = "The copies run beside kernels on the timeline.",
    .lost = "all of it",
    .remedies = kExposedCopiesRemedies,
};
constexpr FindingKind kExposedCopies{
    .code = "exposed_copies",
    .title = "nothing runs but copies of memory",
    .cause = Cause::copy,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_step,
    .picture = Picture::cause,
    .explanation = &kExposedCopiesExplained,
};
constexpr auto kKinds = std::to_array<const FindingKind*>({&kExposedCopies});

constexpr std::int64_t kCopyPermille = 30;

void find_exposed_copies(const FindingContext& context, std::vector<Finding>& findings) {
  if (!context.is_worth(context.total(Cause::copy), kCopyPermille)) return;
  Finding finding = context.all_of_its_cause(kExposedCopies);
  finding.title = "nothing runs but copies of memory";
  finding.remedy =
      "pin_memory=True and `.to(device, non_blocking=True)` on a stream of its own, one batch ahead; "
      "DeepSpeed's offloading: pin_memory = true in offload_param and offload_optimizer";
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::exposed_copies{kKinds, find_exposed_copies};

}  // namespace lockstep::analyzer
