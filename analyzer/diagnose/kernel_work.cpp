#include "analyzer/diagnose/kernel_work.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep::analyzer {
namespace {

// One kernel in one launch size.
using Kernel = std::uint64_t;
Kernel kernel_of(const Activity& activity) {
  return std::uint64_t{activity.name} << 32U | activity.shape;
}

// MurmurHash3's last step: sums of numbers so mixed are equal by chance alone.
std::uint64_t mixed(Kernel kernel) {
  kernel = (kernel ^ kernel >> 33U) * 0xFF51AFD7ED558CCDU;
  kernel = (kernel ^ kernel >> 33U) * 0xC4CEB9FE1A85EC53U;
  return kernel ^ kernel >> 33U;
}

struct Sum {
  double ns = 0;
  double count = 0;
};
struct Sums {
  Sum all;
  std::vector<Sum> of_rank;
};

// Of the ranks of the table, in its order; absent where one has no trace, or computes on a CPU, whose
// computations come in more pieces where they are interrupted.
std::optional<std::vector<const RankTrace*>> traces_on_gpus(const Job& job, const StepTable& table) {
  std::vector<const RankTrace*> traces(table.rank_count(), nullptr);
  for (const RankTrace& trace : job.ranks) {
    const std::size_t rank = table.index_of(trace.rank);
    if (rank >= traces.size() || table.ranks[rank] != trace.rank) continue;
    if (trace.device == "cpu") return std::nullopt;
    traces[rank] = &trace;
  }
  for (const RankTrace* trace : traces)
    if (trace == nullptr) return std::nullopt;
  return traces;
}

// Calls `visit` with each kernel of the table's steps, its rank's place in the table, and its cell's.
template <class Visit>
void for_each_kernel(const StepTable& table, const std::vector<const RankTrace*>& traces, Visit visit) {
  std::unordered_map<std::int64_t, std::size_t> steps;
  for (std::size_t step = 0; step < table.steps.size(); ++step) steps.emplace(table.steps[step], step);
  for (std::size_t rank = 0; rank < traces.size(); ++rank)
    for (const Activity& activity : traces[rank]->activities) {
      if (activity.activity_class != Class::compute || activity.step == kNone) continue;
      const auto step = steps.find(traces[rank]->steps[activity.step].number);
      if (step != steps.end()) visit(activity, rank, step->second * traces.size() + rank);
    }
}

struct Cell {
  double ns = 0, known_ns = 0;
  std::uint64_t kernels = 0;  // equal where the same kernels were launched in the same sizes, in any order
};

bool differ_within_steps(const StepTable& table, const std::vector<Cell>& cells) {
  std::size_t differing = 0;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    const Cell* const first = &cells[step * table.rank_count()];
    for (std::size_t rank = 1; rank < table.rank_count(); ++rank) {
      if (first[rank].kernels == first->kernels) continue;
      ++differing;
      break;
    }
  }
  return 2 * differing >= table.steps.size();
}

bool are_known(const std::vector<Cell>& cells) {
  std::size_t known = 0;
  for (const Cell& cell : cells)
    if (cell.ns > 0 && 10 * cell.known_ns >= 9 * cell.ns) ++known;
  return 10 * known >= 9 * cells.size();
}

}  // namespace

std::optional<StepWork> work_of_kernel_sizes(const Job& job, const StepTable& table) {
  const auto traces = traces_on_gpus(job, table);
  if (!traces || traces->size() < 2) return std::nullopt;
  std::unordered_map<Kernel, Sums> sums;
  for_each_kernel(table, *traces, [&](const Activity& activity, std::size_t rank, std::size_t) {
    if (activity.shape == 0) return;
    Sums& kernel = sums[kernel_of(activity)];
    kernel.of_rank.resize(traces->size());
    for (Sum* sum : {&kernel.all, &kernel.of_rank[rank]}) {
      sum->ns += static_cast<double>(activity.end - activity.begin);
      ++sum->count;
    }
  });
  if (sums.empty()) return std::nullopt;

  std::vector<Cell> cells(table.cells.size());
  StepWork work{"what kernels of the same launch size take on other ranks",
                std::vector<double>(table.cells.size())};
  for_each_kernel(table, *traces, [&](const Activity& activity, std::size_t rank, std::size_t at) {
    Cell& cell = cells[at];
    const auto ns = static_cast<double>(activity.end - activity.begin);
    cell.ns += ns;
    cell.kernels += mixed(kernel_of(activity));
    if (activity.shape == 0) return;
    const Sums& kernel = sums.at(kernel_of(activity));
    const Sum& own = kernel.of_rank[rank];
    const double others = kernel.all.count - own.count;
    if (others < 1) return;
    cell.known_ns += ns;
    work.amount[at] += (kernel.all.ns - own.ns) / others;
  });
  if (!differ_within_steps(table, cells) || !are_known(cells)) return std::nullopt;
  return work;
}

std::optional<StepWork> work_of_kernel_numbers(const Job& job, const StepTable& table) {
  const auto traces = traces_on_gpus(job, table);
  if (!traces) return std::nullopt;
  StepWork work{"the number of kernels", std::vector<double>(table.cells.size())};
  for_each_kernel(table, *traces, [&](const Activity&, std::size_t, std::size_t at) { ++work.amount[at]; });
  return work;
}

}  // namespace lockstep::analyzer
