// What a comparison needs of one run: sums over its steady steps, exact, of each rank, each recurring
// collective, each layer's passes and each phase of the run.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "base/result.h"

namespace lockstep::analyzer {

// What one rank did in its steps.
struct RankSums {
  std::int32_t rank = 0;
  std::string host, device;
  std::int64_t steps = 0;  // at least one
  Partition parts;         // sums to its steps' windows
  std::int64_t exposed_ns = 0;
  std::int64_t compute_ns = 0;
  // The same steps in up to ten blocks of neighbours, as `RunSums::blocks` counts them.
  std::vector<Partition> blocks = {};
};

// A collective that comes again in every step, by what two runs can have in common of it.
struct CollectiveKey {
  std::string group;
  Operation operation = Operation::unknown;
  std::string name;           // "" where the program gives none
  std::int64_t position = 0;  // among the group's of its kind
  auto operator<=>(const CollectiveKey&) const = default;
};

// Σ over ranks and steps.
struct CollectiveSums {
  std::int64_t operations = 0;
  std::optional<std::int64_t> bytes;          // of one: the median
  std::int64_t transfer_ns = 0, wait_ns = 0;  // exposed
};

struct LayerKey {
  std::optional<std::int32_t> layer;
  std::string part;   // of what is no numbered layer
  std::uint8_t pass;  // forward, backward, recompute
  auto operator<=>(const LayerKey&) const = default;
};
const char* name_of_pass(std::uint8_t pass);  // "forward"

struct RunSums {
  std::string path;
  std::optional<std::int64_t> start_ns;  // since 1970: tells a run from a copy of it
  std::int32_t world_size = 0;
  std::vector<RankSums> ranks;        // by rank; at least one
  std::vector<std::int32_t> unknown;  // ranks whose time is not known, and which are not among `ranks`
  std::int64_t steps = 0;             // of the job, each counted once
  // Steps of each block: of 20 steps and more, so that one slow step is not a tenth of what is known.
  std::vector<std::int64_t> blocks;
  bool waits_known = true;
  std::map<CollectiveKey, CollectiveSums> collectives;
  std::map<LayerKey, std::int64_t> layers;
  // Of the run's wall time, Σ over `account_ranks` ranks; none of a run without an account.
  Account phases;
  std::int64_t account_ranks = 0;
  std::string failure;          // what the run ended with: "the job hung in …"; "" where nothing
  std::int64_t rank_steps = 0;  // steps, each on each rank that has it: what collectives and layers are of
};

// Of a report over steady steps, or over all steps of one that has no steady ones. The error says what the
// run lacks.
Result<RunSums> run_sums(const Report& report);
// The same of a report whose steps are kept apart from it.
Result<RunSums> run_sums(const Report& report, std::span<const StepReport> steps);

// That no two of these runs are the same recording, under whatever names: it would look like runs that agree.
Status check_different(std::span<const RunSums* const> runs);

}  // namespace lockstep::analyzer
