#include "analyzer/operators/slow_part.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

// What lies outside of the named part has to be this much of the others' time: else it names nothing.
constexpr double kLeastOutside = 0.02;
// Within a named module an inner one is named instead where it holds as much of the excess.
constexpr double kNearlyAll = 0.8;
// Of the others' time: smaller parts say nothing about whether all are slower alike.
constexpr double kLeastPart = 0.01;

// A module, or an operator of one, on all ranks: [0] is the rank in question. By step.
using ByRank = std::vector<std::vector<std::int64_t>>;

struct Difference {
  std::int64_t excess_ns = 0;              // mean over steps
  std::int64_t own_ns = 0, others_ns = 0;  // medians over steps
  double mean_others_ns = 0;
  double ratio() const {
    return mean_others_ns > 0 ? static_cast<double>(excess_ns) / mean_others_ns : excess_ns > 0 ? 1e9 : 0;
  }
};

// Of all parts that take longer, a step.
std::int64_t longer_in_parts(const ComparedParts& table) {
  std::int64_t sum = 0;
  for (const ComparedPart& row : table.rows) sum += std::max<std::int64_t>(0, row.excess_ns());
  return table.steps > 0 ? sum / table.steps : 0;
}

class Comparison {
 public:
  Comparison(const Job& job, const SlowPartQuestion& question) : job_(job), question_(question) {
    const std::vector<PartTimes> ranks = parts_of_ranks(job, question);
    rank_count_ = ranks.size();
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) add(ranks[rank], rank);
    table_ = table_of_parts(ranks, job.strings, question.steps.size());
    longer_ns_ = longer_in_parts(table_);
  }

  bool known() const { return rank_count_ > 0; }

  PartComparison compare() const {
    PartComparison result;
    result.known = true;
    result.table = table_;
    result.longer_ns = longer_ns_;
    const std::optional<std::string> module = slow_module();
    if (module) {
      result.slow = part(*module, difference(modules_.at(*module)));
      name_operation(operations_.at(*module), result.slow->excess_ns, *result.slow);
    } else if (const auto whole = operations_.find(""); whole != operations_.end()) {
      name_operation_alone(whole->second, result);
    }
    if (!result.slow) compare_all(result);
    return result;
  }

 private:
  using Operations = std::map<std::uint32_t, ByRank>;  // 0: none

  void add(const PartTimes& parts, std::size_t rank) {
    for (const auto& [part, times] : parts) {
      std::string_view path = job_.strings.view(part.module);
      for (;;) {  // the module, those around it, and the whole ("")
        if (!path.empty()) add(times, rank, modules_[std::string(path)]);
        add(times, rank, operations_[std::string(path)][part.operation]);
        if (path.empty()) break;
        const std::size_t dot = path.rfind('.');
        path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
      }
    }
  }

  void add(const std::vector<std::int64_t>& times, std::size_t rank, ByRank& sums) const {
    if (sums.empty()) sums.assign(rank_count_, std::vector<std::int64_t>(question_.steps.size()));
    for (std::size_t step = 0; step < times.size(); ++step) sums[rank][step] += times[step];
  }

  Difference difference(const ByRank& times) const {
    const std::size_t steps = question_.steps.size();
    std::vector<std::int64_t> medians;
    std::int64_t excess = 0, others = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      std::vector<std::int64_t> of_others;
      for (std::size_t rank = 1; rank < times.size(); ++rank) of_others.push_back(times[rank][step]);
      medians.push_back(lower_median(std::move(of_others)));
      excess += times[0][step] - medians.back();
      others += medians.back();
    }
    return {excess / static_cast<std::int64_t>(steps), lower_median(times[0]), lower_median(medians),
            static_cast<double>(others) / static_cast<double>(steps)};
  }

  Difference whole() const {
    return {question_.excess_ns, question_.others_ns + question_.excess_ns, question_.others_ns,
            static_cast<double>(question_.others_ns)};
  }
  static Difference without(const Difference& all, const Difference& part) {
    return {all.excess_ns - part.excess_ns, 0, 0, std::max(0.0, all.mean_others_ns - part.mean_others_ns)};
  }
  // Also of what the parts take longer together: the times of parts have waiting for a core in them, which
  // the rank's excess may not have.
  bool holds_enough(const Difference& part) const {
    return static_cast<double>(part.excess_ns) >=
           kHolds * static_cast<double>(std::max(question_.excess_ns, longer_ns_));
  }
  // The rest of the step takes at most half as much longer.
  bool stands_out(const Difference& part) const {
    const Difference rest = without(whole(), part);
    return rest.mean_others_ns >= kLeastOutside * static_cast<double>(question_.others_ns) &&
           rest.ratio() * 2 <= part.ratio();
  }

  // Of the modules right below `path` the one with the greatest excess.
  std::optional<std::pair<std::string, Difference>> worst_below(const std::string& path) const {
    std::optional<std::pair<std::string, Difference>> worst;
    const std::string prefix = path.empty() ? "" : path + ".";
    for (auto at = modules_.lower_bound(prefix); at != modules_.end() && at->first.starts_with(prefix);
         ++at) {
      if (at->first.find('.', prefix.size()) != std::string::npos) continue;
      const Difference found = difference(at->second);
      if (!worst || found.excess_ns > worst->second.excess_ns) worst.emplace(at->first, found);
    }
    return worst;
  }

  std::optional<std::string> slow_module() const {
    std::optional<std::pair<std::string, Difference>> best;
    std::string path;
    for (;;) {
      auto worst = worst_below(path);
      if (!worst || !holds_enough(worst->second)) break;
      path = worst->first;
      if (!best) {
        if (stands_out(worst->second)) best = std::move(worst);
        continue;
      }
      const Difference rest = without(best->second, worst->second);
      const bool nearly_all = static_cast<double>(worst->second.excess_ns) >=
                              kNearlyAll * static_cast<double>(best->second.excess_ns);
      if (!nearly_all && rest.ratio() * 2 > worst->second.ratio()) break;
      best = std::move(worst);
    }
    if (!best) return std::nullopt;
    return best->first;
  }

  static SlowPart part(std::string module, const Difference& found) {
    SlowPart slow;
    slow.module = std::move(module);
    slow.excess_ns = found.excess_ns;
    slow.own_ns = found.own_ns;
    slow.others_ns = found.others_ns;
    return slow;
  }

  std::pair<std::uint32_t, Difference> worst_operation(const Operations& operations) const {
    std::pair<std::uint32_t, Difference> worst;
    bool any = false;
    for (const auto& [name, times] : operations) {
      const Difference found = difference(times);
      if (!any || found.excess_ns > worst.second.excess_ns) worst = {name, found};
      any = true;
    }
    return worst;
  }

  void name_operation(const Operations& operations, std::int64_t excess, SlowPart& slow) const {
    const auto [name, worst] = worst_operation(operations);
    if (static_cast<double>(worst.excess_ns) < kHolds * static_cast<double>(excess)) return;
    slow.is_outside = name == 0;
    slow.operation = job_.strings.view(name);
  }

  void name_operation_alone(const Operations& operations, PartComparison& result) const {
    const auto [name, worst] = worst_operation(operations);
    if (name == 0 || !holds_enough(worst) || !stands_out(worst)) return;
    result.slow = part("", worst);
    result.slow->operation = job_.strings.view(name);
  }

  // Whether parts take longer alike: modules by what they do themselves, else operators.
  void compare_all(PartComparison& result) const {
    std::vector<std::pair<double, double>> parts;  // by how much longer, how long
    const auto take = [&](const ByRank& times) {
      const Difference found = difference(times);
      if (found.mean_others_ns >= kLeastPart * static_cast<double>(question_.others_ns))
        parts.emplace_back(found.ratio(), found.mean_others_ns);
    };
    for (const auto& [path, times] : modules_) {
      // Those that hold no others: each instant counts once.
      const auto below = modules_.lower_bound(path + ".");
      if (below == modules_.end() || !below->first.starts_with(path + ".")) take(times);
    }
    if (const auto operations = operations_.find(""); modules_.empty() && operations != operations_.end())
      for (const auto& [name, times] : operations->second) take(times);
    if (parts.size() < 3) return;
    std::sort(parts.begin(), parts.end());
    const double whole = question_.others_ns > 0 ? static_cast<double>(question_.excess_ns) /
                                                       static_cast<double>(question_.others_ns)
                                                 : 0;
    double all = 0, like_the_whole = 0;
    for (const auto& [longer, time] : parts) {
      all += time;
      if (longer * 2 >= whole && longer <= whole * 2) like_the_whole += time;
    }
    result.alike = whole > 0 && like_the_whole >= kNearlyAll * all;
    result.least = parts[parts.size() / 4].first;
    result.most = parts[parts.size() - 1 - parts.size() / 4].first;
  }

  const Job& job_;
  const SlowPartQuestion& question_;
  std::size_t rank_count_ = 0;
  std::map<std::string, ByRank> modules_;  // by path, with all below them
  ComparedParts table_;
  std::int64_t longer_ns_ = 0;
  std::map<std::string, Operations> operations_;  // of a module and all below it; "": of all
};

}  // namespace

PartComparison compare_parts(const Job& job, const SlowPartQuestion& question) {
  if (question.excess_ns <= 0 || question.others_ns < 0) return {};
  const Comparison comparison(job, question);
  return comparison.known() ? comparison.compare() : PartComparison{};
}

}  // namespace lockstep::analyzer
