#include "analyzer/explain/table.h"

namespace lockstep::analyzer {

std::vector<Explanation> explain_doubts() {
  return {
      {{"mismatched_collectives"},
       "ranks disagree about an operation",
       "Records that belong together by group and number differ in operation, size or type. NCCL would hang, "
       "or mix up data without a word.",
       "Any such record. Sizes of all-to-alls and of uneven gathers may differ, and are not compared.",
       "The traces are of different runs, or numbers were given by order alone.",
       "",
       {{"the program",
         "the same collectives in the same order on every rank: a branch that some take, shapes "
         "that depend on data"},
        {"PyTorch", "TORCH_DISTRIBUTED_DEBUG=DETAIL checks each collective as it is issued"}}},
      {{"clock_uncertain"},
       "the clocks of hosts are too uncertain to say who was late",
       "Most waiting across hosts is in operations whose last arriver is within the clocks' error.",
       "The uncertainty of two hosts' clocks together exceeds the margins of most such operations.",
       "",
       "",
       {{"the machine", "chrony or PTP on every host, against the same server"}}}};
}

}  // namespace lockstep::analyzer
