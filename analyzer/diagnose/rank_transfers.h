// Does a rank move data more slowly than others, or more of it?
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/lateness/step_table.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct RankTransfers {
  // A step: by how much longer its transfers that nothing hides take than the same operations of comparable
  // ranks at the same size, ns; never negative. Comparable are the other ranks of an operation, or the ranks
  // of the same operation in other groups of as many ranks, on as many hosts: who shows more of it over all
  // steps counts. What has no such peer counts as no longer.
  std::int64_t slower_ns = 0;
  // Most of that lies in operations between hosts; the rest in some whose ranks are all on one host, or
  // nobody knows on which: a link between these is the host's own path.
  bool is_between_hosts = false;
  // A step: what its operations carry, and the lower median of the other ranks', bytes. Absent where some
  // size is not known.
  std::optional<std::int64_t> bytes, others_bytes;

  // A quarter more than the others.
  bool moves_more() const { return bytes && others_bytes && 4 * *bytes >= 5 * *others_bytes; }
};

// Over the table's steps. O(operations · their ranks).
RankTransfers transfers_of(const Report& report, const StepTable& steps, std::int32_t rank);

// Of ranks that compute on CPUs: by how much longer, in a step, the rank's transfers within its host take
// than those of others (slower_ns); 0 where they are between hosts. What moves the data there are threads of
// the rank (Gloo's) on the host's cores: they wait for one as training threads do, nobody looks at them, and
// all ranks use the same path. Seen on two cores beside other programs: the same all-reduce ended 20 to 30 ms
// later on one healthy rank than on the other, in a third of the steps, now on this one and now on that.
std::int64_t slower_on_host_cores(const Report& report, const StepTable& steps, std::int32_t rank);

}  // namespace lockstep::analyzer
