#include "analyzer/diagnose/named_alike.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/diagnose/rendezvous_names.h"
#include "analyzer/intervals/interval_set.h"
#include "base/time_math.h"
#include "trace/events/communication_names.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kNamesSaid = 3;

// Each name is looked at once.
class NamesAlike {
 public:
  explicit NamesAlike(const StringTable& strings) : strings_(strings) {}

  bool has(const Activity& activity) {
    if (activity.activity_class != Class::unclassified) return false;
    const auto [where, fresh] = known_.try_emplace(activity.name, false);
    if (fresh) where->second = trace::looks_like_communication(strings_.view(activity.name));
    return where->second;
  }

 private:
  const StringTable& strings_;
  std::unordered_map<std::uint32_t, bool> known_;
};

using NamedAlikeById = std::unordered_map<std::uint32_t, NamedAlike>;

void add_named_alike(const RankTrace& rank, NamesAlike& names, NamedAlikeById& found) {
  for (const Activity& activity : rank.activities) {
    if (!names.has(activity)) continue;
    NamedAlike& one = found[activity.name];
    one.name = activity.name;
    ++one.count;
    one.total_ns = saturating_add(one.total_ns, saturating_length(activity.begin, activity.end));
  }
}

std::vector<NamedAlike> most_time_first(const NamedAlikeById& found) {
  std::vector<NamedAlike> names;
  names.reserve(found.size());
  for (const auto& [id, one] : found) names.push_back(one);
  std::sort(names.begin(), names.end(), [](const NamedAlike& a, const NamedAlike& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return names;
}

}  // namespace

std::vector<NamedAlike> named_alike(const RankTrace& rank, const StringTable& strings) {
  NamesAlike names(strings);
  NamedAlikeById found;
  add_named_alike(rank, names, found);
  return most_time_first(found);
}

std::vector<NamedAlike> named_alike(const Job& job) {
  NamesAlike names(job.strings);
  NamedAlikeById found;
  for (const RankTrace& rank : job.ranks) add_named_alike(rank, names, found);
  return most_time_first(found);
}

NamedAlikeTime named_alike_time(const Job& job, const Report& report) {
  NamesAlike names(job.strings);
  NamedAlikeTime time;
  for (const RankTrace& rank : job.ranks) {
    std::vector<Interval> alike, classed;
    for (const Activity& activity : rank.activities)
      if (names.has(activity)) alike.push_back({activity.begin, activity.end});
    if (alike.empty()) continue;
    for (const Activity& activity : rank.activities)
      if (activity.activity_class != Class::unclassified && activity.activity_class != Class::sync)
        classed.push_back({activity.begin, activity.end});
    const IntervalSet within = intersect(IntervalSet::from(std::move(alike)), windows_of(rank, report));
    time.all_ns = saturating_add(time.all_ns, within.measure());
    time.alone_ns =
        saturating_add(time.alone_ns, subtract(within, IntervalSet::from(std::move(classed))).measure());
  }
  return time;
}

std::string functions_of(const std::vector<NamedAlike>& names, const StringTable& strings) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesSaid); ++i)
    text += (i > 0 ? ", " : "") + std::string(function_of(strings.view(names[i].name)));
  if (names.size() > kNamesSaid) text += fmt::format(" and {} more", names.size() - kNamesSaid);
  return text;
}

}  // namespace lockstep::analyzer
