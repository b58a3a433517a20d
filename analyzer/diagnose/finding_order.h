// In which order findings are read.
#pragma once

#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// What the order depends on beside the findings.
struct OrderContext {
  bool has_goodput = false;            // what is training, and what is not, is known
  bool is_moved_by_the_cores = false;  // all ranks compute on the CPU of one host: its cores carry data, too
};

// Alarms first, in the order of their rules; then what costs most (lost_ns, for shares may be of different
// wholes); start-up, where goodput is known, last, for it is no part of training and much of every short run.
// Where a rank is blamed, what is nobody's fault (notes) stands behind who is. Two findings stand behind
// what brings them about, though that costs less, down to a half:
// - a pipeline's bubble, behind a stage that computes more than the others, with which its remedy begins;
// - transfer that the cores of one host carry out, where these are short (a finding says so), behind that
//   finding and those about a rank: it takes as long as it does because cores are short.
// Of such transfer its evidence says so. Findings have their severity. Stable; O(n²).
void order_findings(std::vector<Finding>& findings, const OrderContext& context);

}  // namespace lockstep::analyzer
