#include "analyzer/diagnose/rendezvous_names.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kFewestRuns = 4;

// The k-th run of one name, over the ranks.
struct Run {
  Nanoseconds first_begin = 0, last_begin = 0, first_end = 0, last_end = 0;
  std::int64_t longest = 0;
};

struct Name {
  std::vector<Run> runs;
  std::size_t ranks = 0;         // that have as many runs as the first one
  std::size_t seen_on_rank = 0;  // runs of the rank that is looked at
  std::int64_t total_ns = 0;
  bool differs = false;
};

void take(Run& run, const Activity& activity, bool first) {
  run.first_begin = first ? activity.begin : std::min(run.first_begin, activity.begin);
  run.last_begin = first ? activity.begin : std::max(run.last_begin, activity.begin);
  run.first_end = first ? activity.end : std::min(run.first_end, activity.end);
  run.last_end = first ? activity.end : std::max(run.last_end, activity.end);
  run.longest = std::max(run.longest, saturating_length(activity.begin, activity.end));
}

}  // namespace

std::vector<RendezvousName> rendezvous_names(const Job& job) {
  std::unordered_map<std::uint32_t, Name> names;
  std::size_t ranks = 0;
  for (const RankTrace& rank : job.ranks) {
    if (rank.activities.empty() || !rank.clock.related) continue;
    for (const Activity& activity : rank.activities) {
      if (activity.activity_class != Class::compute && activity.activity_class != Class::unclassified)
        continue;
      Name& name = names[activity.name];
      const std::size_t k = name.seen_on_rank++;
      if (ranks == 0) name.runs.emplace_back();
      if (k >= name.runs.size()) {
        name.differs = true;
        continue;
      }
      take(name.runs[k], activity, ranks == 0);
      name.total_ns = saturating_add(name.total_ns, saturating_length(activity.begin, activity.end));
    }
    ++ranks;
    for (auto& [id, name] : names) {
      name.differs = name.differs || name.seen_on_rank != name.runs.size();
      name.seen_on_rank = 0;
    }
  }
  std::vector<RendezvousName> found;
  if (ranks < 2) return found;
  for (const auto& [id, name] : names) {
    if (name.differs || name.runs.size() < kFewestRuns) continue;
    RendezvousName candidate{id, static_cast<std::int64_t>(name.runs.size()), name.total_ns};
    std::int64_t begins = 0, ends = 0, longest = 0;
    for (const Run& run : name.runs) {
      const std::int64_t begins_apart = saturating_length(run.first_begin, run.last_begin);
      const std::int64_t ends_apart = saturating_length(run.first_end, run.last_end);
      begins = saturating_add(begins, begins_apart);
      ends = saturating_add(ends, ends_apart);
      longest = saturating_add(longest, run.longest);
      candidate.begins_apart_ns = std::max(candidate.begins_apart_ns, begins_apart);
      candidate.ends_apart_ns = std::max(candidate.ends_apart_ns, ends_apart);
    }
    if (begins > 0 && ends <= begins / 4 && begins >= longest / 5) found.push_back(candidate);
  }
  std::sort(found.begin(), found.end(), [](const RendezvousName& a, const RendezvousName& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return found;
}

std::string expression_for(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  for (const std::string_view nameless : {"(anonymous namespace)::", "<unnamed>::"})
    if (const std::size_t at = name.find(nameless); at != std::string_view::npos)
      name.remove_prefix(at + nameless.size());
  std::string expression;
  for (const char c : name) {
    if (c == '(' || c == '<') break;
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != ':' && c != ' ')
      expression += '\\';
    expression += c;
  }
  return expression;
}

}  // namespace lockstep::analyzer
