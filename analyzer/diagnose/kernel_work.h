// How much ranks have to compute, told by the kernels that they launch on GPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

enum class KernelMeasure : std::uint8_t {
  // How many warps kernels launch; those of one name weigh what a warp of it takes in the mean of all ranks,
  // so that a rank's own pace has no part in what it has to do.
  launch_size,
  // How many kernels.
  number,
};

class KernelWork {
 public:
  // Only kernels count whose name more than half of the ranks launch: of another algorithm, or those of
  // another kind of GPU, nobody knows what they are worth beside the others'. Absent where a rank computes on
  // a CPU or has no trace, and where less than three quarters of the cells are known.
  static std::optional<KernelWork> read(const Job& job, const StepTable& table, KernelMeasure measure);

  // [step · ranks + rank], in units that only compare; NaN where kernels that don't count, or whose size is
  // not known, make up more than a tenth of a cell's compute.
  const std::vector<double>& amount() const { return amount_; }
  // The same cells: how long the kernels took that count, in ns.
  const std::vector<double>& counted_ns() const { return counted_ns_; }
  // Whether amounts are of launch sizes, and not of numbers of kernels.
  bool has_sizes() const { return measure_ == KernelMeasure::launch_size; }
  // In half of the steps or more, ranks launch other kernels or sizes than each other.
  bool differs() const;
  // In how many steps the rank (index) launched the same kernels, those that do not count among them, in the
  // same sizes, as more than half of the others.
  std::size_t steps_alike(std::size_t rank) const;

  // Of all that the others do, the part in kernels of which this rank (index) does `times` as much or more.
  // Larger batches make nearly all kernels larger; one that is tuned in another way is one of many.
  double part_with(std::size_t rank, double times) const;

  // Where the differences between ranks lie: kernels, with their part of all deviations from the median of
  // their step, largest first.
  struct Difference {
    std::uint32_t name = 0;  // Job::strings
    double part = 0;
  };
  std::vector<Difference> differences() const;

 private:
  KernelWork(const Job& job, const StepTable& table, KernelMeasure measure)
      : job_(&job), table_(&table), measure_(measure) {}
  void weigh();
  void fill_cells();
  double amount_of(const Activity& activity) const;
  template <class Visit>
  void for_each_kernel(Visit visit) const;

  const Job* job_;
  const StepTable* table_;
  KernelMeasure measure_;
  std::vector<const RankTrace*> traces_;  // of the table's ranks
  std::vector<double> weights_;           // by name; 0: it doesn't count
  std::vector<double> amount_, counted_ns_;
  // Of each cell, the kernels that count, and all: equal where the same were launched, in any order.
  std::vector<std::uint64_t> kernels_, all_kernels_;
};

}  // namespace lockstep::analyzer
