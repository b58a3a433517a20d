// One clock for all ranks of a job: reads off the records, and the recorders' exchanges, how far each host's
// clock was ahead, moves the ranks' times, and says how sure that is.
//
// Between importing and analysing, once. Definitions: docs/metrics.md, "One clock for all ranks".
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

enum class Clocks : std::uint8_t {
  automatic,    // one a host, as the files say it, or as their contradictions do
  each_rank,    // one a rank, whatever the files say
  as_recorded,  // nothing is moved
};

// What `--clocks` takes: "auto", "rank", "recorded"; nothing else.
std::optional<Clocks> parse_clocks(std::string_view text);

// Moves times and fills Clock::{offset_ns, uncertainty_ns, drift, evidence, related} of every rank; adds
// warnings for what could not be related or contradicts itself. Ranks of the job's own clock (domain 0) stay
// as they are. Precondition: check_job(job) succeeds; it does afterwards, too.
void align_clocks(Job& job, Clocks clocks = Clocks::automatic, const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
