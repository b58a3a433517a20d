#include "analyzer/diagnose/kernel_work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "analyzer/diagnose/cell_statistics.h"

namespace lockstep::analyzer {
namespace {

// MurmurHash3's last step: sums of numbers so mixed are equal by chance alone.
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 33U) * 0xFF51AFD7ED558CCDU;
  number = (number ^ number >> 33U) * 0xC4CEB9FE1A85EC53U;
  return number ^ number >> 33U;
}

double nanoseconds_of(const Activity& activity) {
  return static_cast<double>(activity.end - activity.begin);
}

// In the table's order; empty where one has no trace, or computes on a CPU, whose computations come in more
// pieces where they are interrupted.
std::vector<const RankTrace*> traces_on_gpus(const Job& job, const StepTable& table) {
  std::vector<const RankTrace*> traces(table.rank_count(), nullptr);
  for (const RankTrace& trace : job.ranks) {
    const std::size_t rank = table.index_of(trace.rank);
    if (rank >= traces.size() || table.ranks[rank] != trace.rank) continue;
    if (trace.device == "cpu") return {};
    traces[rank] = &trace;
  }
  return std::find(traces.begin(), traces.end(), nullptr) == traces.end() ? traces
                                                                          : std::vector<const RankTrace*>();
}

}  // namespace

// Calls `visit` with each kernel of the table's steps, its rank's place in the table, and its cell's.
template <class Visit>
void KernelWork::for_each_kernel(Visit visit) const {
  std::unordered_map<std::int64_t, std::size_t> steps;
  for (std::size_t step = 0; step < table_->steps.size(); ++step) steps.emplace(table_->steps[step], step);
  for (std::size_t rank = 0; rank < traces_.size(); ++rank)
    for (const Activity& activity : traces_[rank]->activities) {
      if (activity.activity_class != Class::compute || activity.step == kNone) continue;
      const auto step = steps.find(traces_[rank]->steps[activity.step].number);
      if (step != steps.end()) visit(activity, rank, step->second * traces_.size() + rank);
    }
}

double KernelWork::amount_of(const Activity& activity) const {
  return weights_[activity.name] * (measure_ == KernelMeasure::number ? 1 : activity.warps);
}

void KernelWork::weigh() {
  struct Name {
    double ns = 0, warps = 0;
    std::size_t ranks = 0, last = std::numeric_limits<std::size_t>::max();
  };
  std::vector<Name> names(job_->strings.size());
  for_each_kernel([&](const Activity& activity, std::size_t rank, std::size_t) {
    if (measure_ == KernelMeasure::launch_size && activity.warps == 0) return;
    Name& name = names[activity.name];
    name.ns += nanoseconds_of(activity);
    name.warps += activity.warps;
    if (name.last != rank) ++name.ranks;
    name.last = rank;
  });
  weights_.assign(names.size(), 0);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].ranks > 1 && 2 * names[i].ranks > traces_.size())
      weights_[i] = measure_ == KernelMeasure::number ? 1 : names[i].ns / names[i].warps;
}

void KernelWork::fill_cells() {
  std::vector<double> all_ns(table_->cells.size());
  counted_ns_.assign(table_->cells.size(), 0);
  amount_.assign(table_->cells.size(), 0);
  kernels_.assign(table_->cells.size(), 0);
  all_kernels_.assign(table_->cells.size(), 0);
  for_each_kernel([&](const Activity& activity, std::size_t, std::size_t cell) {
    const double amount = amount_of(activity);
    all_ns[cell] += nanoseconds_of(activity);
    all_kernels_[cell] += mixed(std::uint64_t{activity.name} << 32U | activity.warps);
    if (amount <= 0) return;
    counted_ns_[cell] += nanoseconds_of(activity);
    amount_[cell] += amount;
    // Where numbers are counted, some ranks' sizes may be known and others' not.
    const std::uint32_t warps = measure_ == KernelMeasure::number ? 0 : activity.warps;
    kernels_[cell] += mixed(std::uint64_t{activity.name} << 32U | warps);
  });
  for (std::size_t cell = 0; cell < amount_.size(); ++cell)
    if (all_ns[cell] <= 0 || 10 * counted_ns_[cell] < 9 * all_ns[cell]) amount_[cell] = kUnknownAmount;
}

std::optional<KernelWork> KernelWork::read(const Job& job, const StepTable& table, KernelMeasure measure) {
  KernelWork work(job, table, measure);
  work.traces_ = traces_on_gpus(job, table);
  if (work.traces_.size() < 2) return std::nullopt;
  work.weigh();
  work.fill_cells();
  const auto unknown = static_cast<std::size_t>(std::count_if(
      work.amount_.begin(), work.amount_.end(), [](double amount) { return std::isnan(amount); }));
  if (4 * unknown > work.amount_.size()) return std::nullopt;
  return work;
}

bool KernelWork::differs() const {
  const std::size_t ranks = traces_.size();
  std::size_t differing = 0;
  for (std::size_t first = 0; first < amount_.size(); first += ranks) {
    std::optional<std::uint64_t> one;
    for (std::size_t cell = first; cell < first + ranks; ++cell) {
      if (std::isnan(amount_[cell])) continue;
      if (one && *one != kernels_[cell]) {
        ++differing;
        break;
      }
      one = kernels_[cell];
    }
  }
  return 2 * differing >= table_->steps.size();
}

std::size_t KernelWork::steps_alike(std::size_t rank) const {
  const std::size_t ranks = traces_.size();
  std::size_t alike = 0;
  for (std::size_t first = 0; first < amount_.size(); first += ranks) {
    if (std::isnan(amount_[first + rank])) continue;
    const auto step = all_kernels_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto same =
        std::count(step, step + static_cast<std::ptrdiff_t>(ranks), all_kernels_[first + rank]) - 1;
    if (2 * static_cast<std::size_t>(same) > ranks - 1) ++alike;
  }
  return alike;
}

double KernelWork::part_with(std::size_t rank, double times) const {
  std::map<std::uint32_t, std::vector<double>> names;
  for_each_kernel([&](const Activity& activity, std::size_t of, std::size_t) {
    if (weights_[activity.name] <= 0) return;
    std::vector<double>& amounts = names[activity.name];
    amounts.resize(traces_.size());
    amounts[of] += amount_of(activity);
  });
  double all = 0, part = 0;
  for (const auto& [name, amounts] : names) {
    const double others = median_of_others(amounts, rank);
    all += others;
    if (amounts[rank] >= times * others) part += others;
  }
  return all > 0 ? part / all : 0;
}

std::vector<KernelWork::Difference> KernelWork::differences() const {
  // A few make up nearly all of what is computed.
  constexpr std::size_t kNames = 32;
  std::map<std::uint32_t, double> totals;
  for_each_kernel([&](const Activity& activity, std::size_t, std::size_t) {
    totals[activity.name] += amount_of(activity);
  });
  std::vector<std::pair<double, std::uint32_t>> largest;
  for (const auto& [name, total] : totals)
    if (total > 0) largest.emplace_back(-total, name);
  std::sort(largest.begin(), largest.end());
  if (largest.size() > kNames) largest.resize(kNames);
  std::vector<std::size_t> place(weights_.size(), largest.size());
  for (std::size_t i = 0; i < largest.size(); ++i) place[largest[i].second] = i;
  std::vector<std::vector<double>> amounts(largest.size(), std::vector<double>(amount_.size()));
  for_each_kernel([&](const Activity& activity, std::size_t, std::size_t cell) {
    if (place[activity.name] < amounts.size()) amounts[place[activity.name]][cell] += amount_of(activity);
  });
  std::vector<Difference> differences;
  double all = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    for (std::size_t cell = 0; cell < amount_.size(); ++cell)
      if (std::isnan(amount_[cell])) amounts[i][cell] = kUnknownAmount;
    double sum = 0;
    for (const double deviation : deviations_in_turn(*table_, amounts[i]))
      if (!std::isnan(deviation)) sum += std::abs(deviation);
    all += sum;
    differences.push_back({largest[i].second, sum});
  }
  for (Difference& difference : differences) difference.part = all > 0 ? difference.part / all : 0;
  std::stable_sort(differences.begin(), differences.end(),
                   [](const Difference& a, const Difference& b) { return a.part > b.part; });
  return differences;
}

}  // namespace lockstep::analyzer
