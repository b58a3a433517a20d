#include "analyzer/diagnose/late_transfers.h"

#include <fmt/format.h>

#include <string>

#include "analyzer/diagnose/late_compute.h"
#include "analyzer/diagnose/rank_transfers.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

std::string remedy_of_link(const RankTransfers& transfers, std::int32_t rank) {
  if (!transfers.is_between_hosts)
    return fmt::format(
        "the operations in which it takes longer stay on one host: compare rank {}'s place there "
        "(`nvidia-smi topo -m`; on CPUs its cores, `taskset -p`) with the others'",
        rank);
  return fmt::format(
      "look at the links of rank {} and of those it exchanges data with: NCCL_DEBUG=INFO names the transport "
      "of each channel; `ethtool`, `ibstat` their rate; `lockstep record --cpu` counts what interfaces drop "
      "and send again",
      rank);
}

}  // namespace

LateReason reason_of_transfer(const FindingContext& context, const StepTable& steps,
                              const RankLateness& late) {
  const RankTransfers transfers = transfers_of(context.report, steps, late.rank);
  const bool is_slower = 2 * transfers.slower_ns >= late.cause_ns;
  // Within a host of CPUs its cores carry transfers out: no link is slow there.
  const bool is_link = transfers.is_between_hosts || (!context.on_cpu && 4 * late.cause_ns >= late.others_ns);
  const std::string longer = format_duration(late.cause_ns);
  LateReason reason;
  reason.evidence.push_back(in_a_step("moves data, after all have come,", late));
  if (is_slower && is_link) {
    reason.code = "link";
    reason.doing = fmt::format("is held up by its link, {} longer", longer);
    reason.remedy = remedy_of_link(transfers, late.rank);
    return reason;
  }
  if (!is_slower && transfers.moves_more()) {
    reason.code = "more_data";
    reason.doing = fmt::format("moves more data, for {} longer", longer);
    reason.evidence.push_back(
        fmt::format("its operations carry {} in a step, those of the median of the others {}",
                    format_bytes(*transfers.bytes), format_bytes(*transfers.others_bytes)));
    reason.remedy = fmt::format(
        "see why what rank {} gathers and reduces is larger, and give all ranks as much of it", late.rank);
    return reason;
  }
  if (is_slower) {
    reason.doing = "ends the same operations later than the others, and why is not known";
  } else {
    reason.doing = fmt::format("moves data for {} longer, and why is not known", longer);
    reason.evidence.emplace_back(
        "no other ranks are known to carry out its operations at the same size faster");
  }
  reason.remedy =
      fmt::format("see what else runs on rank {}'s cores; record NCCL_DEBUG=INFO beside the run", late.rank);
  return reason;
}

}  // namespace lockstep::analyzer
