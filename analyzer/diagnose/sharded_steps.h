// How the steps of a job that shards its parameters (FSDP, ZeRO-3) gather them and scatter the gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/diagnose/group_roles.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Sums over the steps and ranks of a report, of the process group that gathers for longest.
struct Gathering {
  std::string group;          // its name
  std::int64_t steps = 0;     // in which it gathers
  std::int64_t per_step = 0;  // median of all-gathers
  std::int64_t bytes_per_step =
      0;  // median; 0 where sizes are not known. Parameters are gathered once at least
  DataType data_type = DataType::unknown;
  std::int64_t all_ns = 0;      // from arrival to end
  std::int64_t covered_ns = 0;  // of that, under compute
  std::int64_t records = 0;     // all-gathers, each on each rank
  std::int64_t ahead = 0;       // of these, the ones under compute for a quarter of their time or more
  std::int64_t transfer_ns = 0;
  std::int64_t exposed_ns = 0;  // of transfer, at least this much not under compute
  std::int64_t held_back =
      0;  // all-gathers whose launch the host held back until something on the device was over
  std::int64_t held_back_ns = 0;  // of their exposed transfer, what an earlier launch could have hidden
  std::int64_t all_gathers = 0;   // records whose launch is known
};

// Groups whose operations carry activations are left out: what they gather is needed at once. Nothing where
// no group gathers four times a step, so that there is nothing to gather ahead, or where no computation
// begins between one all-gather and the next (ZeRO's stages 1 and 2, after the optimizer).
std::optional<Gathering> look_at_gathering(const Diagnosis& diagnosis, const Report& report,
                                           const ActivationGroups& activations);

// The last reduce-scatter of each step and rank, of gradients.
struct LastScatters {
  std::int64_t count = 0;
  std::int64_t per_step = 0;     // median of reduce-scatters
  std::int64_t transfer_ns = 0;  // of the last ones
  std::int64_t exposed_ns = 0;   // of that, not under compute
};
std::optional<LastScatters> look_at_last_scatters(const Report& report, const ActivationGroups& activations);

}  // namespace lockstep::analyzer
