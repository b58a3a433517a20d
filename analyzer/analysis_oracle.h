// For tests: docs/metrics.md computed the slow way, nanosecond by nanosecond and pair by pair, straight from
// the definitions and without any of the analyzer's own code. For tiny jobs only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer::oracle {

// Who takes part in one operation: (rank index, communication index). Alone: unmatched.
struct Together {
  trace::Operation operation = trace::Operation::unknown;
  bool point_to_point = false;
  bool pipeline = false;
  std::int32_t root = kNoRank;
  std::vector<std::pair<std::size_t, std::size_t>> members;
};

struct OperationAnswer {
  std::vector<std::int64_t> wait, transfer, hidden;
  std::optional<std::int32_t> last_arriver;
  std::int64_t margin = 0;
};

struct Window {
  std::int64_t begin = 0, end = 0;
};

struct WindowAnswer {
  std::array<std::int64_t, 9> causes{};
  std::int64_t compute = 0, communication = 0, overlap = 0, unclassified = 0;
  std::int64_t barrier_wait = 0, hidden_barrier_wait = 0, p2p_wait = 0, hidden_p2p_wait = 0;
  double kernels = 0, kernels_covered = 0;
};

// By the operation's kind; ranks all on one host with nanosecond timestamps, so the uncertainty is 1 ns.
bool possible(const Job& job, const Together& operation);
OperationAnswer answer(const Job& job, const Together& operation);

std::optional<Window> whole_window(const RankTrace& rank);
std::vector<Window> step_windows(const RankTrace& rank);
// Regions of the pipeline, of jobs with one pipeline group of all ranks, by step number (none: no step
// marks).
std::map<std::optional<std::int64_t>, Window> pipeline_regions(const Job& job);
// Σ over ranks and regions of the instants without compute of the pipeline and without transfer.
std::int64_t pipeline_bubble(const Job& job, const std::vector<Together>& operations);
// operations: all that were matched.
WindowAnswer answer(const Job& job, std::size_t rank, const std::vector<Together>& operations, Window window);
// The cause (0 … 8) of the instant [time, time + 1).
int cause_at(const Job& job, std::size_t rank, const std::vector<Together>& operations, std::int64_t time);

}  // namespace lockstep::analyzer::oracle
