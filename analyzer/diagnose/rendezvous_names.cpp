#include "analyzer/diagnose/rendezvous_names.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/gpus.h"
#include "base/shell_words.h"
#include "base/time_math.h"
#include "trace/events/communication_names.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kFewestRuns = 4;

// The k-th run of one name, over the ranks.
struct Run {
  Nanoseconds first_begin = 0, last_begin = 0, first_end = 0, last_end = 0;
  std::int64_t longest = 0;
  bool beside_known = false;  // on one rank at least
  std::int64_t begins_apart() const { return saturating_length(first_begin, last_begin); }
  std::int64_t ends_apart() const { return saturating_length(first_end, last_end); }
};

struct Name {
  std::vector<Run> runs;
  std::size_t seen_on_rank = 0;  // runs of the rank that is looked at
  std::int64_t total_ns = 0;
  bool differs = false;
};
using Names = std::unordered_map<std::uint32_t, Name>;

bool may_be_unknown(const Activity& activity) {
  return activity.activity_class == Class::compute || activity.activity_class == Class::unclassified;
}

void take(Run& run, const Activity& activity, bool first) {
  run.first_begin = first ? activity.begin : std::min(run.first_begin, activity.begin);
  run.last_begin = first ? activity.begin : std::max(run.last_begin, activity.begin);
  run.first_end = first ? activity.end : std::min(run.first_end, activity.end);
  run.last_end = first ? activity.end : std::max(run.last_end, activity.end);
  run.longest = std::max(run.longest, saturating_length(activity.begin, activity.end));
}

IntervalSet known_communication_of(const RankTrace& rank) {
  std::vector<Interval> spans;
  for (const Communication& communication : rank.communications) {
    const Activity& activity = rank.activities[communication.activity];
    spans.push_back({activity.begin, activity.end});
  }
  return IntervalSet::from(std::move(spans));
}

bool touches(const IntervalSet& set, const Activity& activity) {
  const std::size_t next = set.first_ending_after(activity.begin);
  return next < set.intervals().size() && set.intervals()[next].begin < activity.end;
}

// `counts(rank, activity)`: is looked at. Returns how many ranks have been.
template <class Counts>
std::size_t collect_runs(const Job& job, bool look_beside, Counts&& counts, Names& names) {
  std::size_t ranks = 0;
  for (const RankTrace& rank : job.ranks) {
    if (rank.activities.empty() || !rank.clock.related) continue;
    const IntervalSet known = look_beside ? known_communication_of(rank) : IntervalSet{};
    for (const Activity& activity : rank.activities) {
      if (!counts(rank, activity)) continue;
      Name& name = names[activity.name];
      const std::size_t k = name.seen_on_rank++;
      if (ranks == 0) name.runs.emplace_back();
      if (k >= name.runs.size()) {
        name.differs = true;
        continue;
      }
      take(name.runs[k], activity, ranks == 0);
      name.runs[k].beside_known = name.runs[k].beside_known || (look_beside && touches(known, activity));
      name.total_ns = saturating_add(name.total_ns, saturating_length(activity.begin, activity.end));
    }
    ++ranks;
    for (auto& [id, name] : names) {
      name.differs = name.differs || name.seen_on_rank != name.runs.size();
      name.seen_on_rank = 0;
    }
  }
  return ranks;
}

bool ends_together_in_the_sum(const Name& name) {
  std::int64_t begins = 0, ends = 0, longest = 0;
  for (const Run& run : name.runs) {
    begins = saturating_add(begins, run.begins_apart());
    ends = saturating_add(ends, run.ends_apart());
    longest = saturating_add(longest, run.longest);
  }
  return begins > 0 && ends <= begins / 4 && begins >= longest / 5;
}

bool ends_together_in_most_runs(const Name& name) {
  std::size_t together = 0, apart = 0, beside = 0;
  for (const Run& run : name.runs) {
    beside += run.beside_known;
    if (run.beside_known || run.begins_apart() <= 0 || run.begins_apart() < run.longest / 5) continue;
    ++(run.ends_apart() <= run.begins_apart() / 4 ? together : apart);
  }
  return together >= kFewestRuns && together >= name.runs.size() - name.runs.size() / 2 &&
         together >= 4 * apart && beside <= name.runs.size() / 4;
}

RendezvousName rendezvous_of(std::uint32_t id, const Name& name) {
  RendezvousName found{id, static_cast<std::int64_t>(name.runs.size()), name.total_ns};
  for (const Run& run : name.runs) {
    found.begins_apart_ns = std::max(found.begins_apart_ns, run.begins_apart());
    found.ends_apart_ns = std::max(found.ends_apart_ns, run.ends_apart());
  }
  return found;
}

// Most time first.
template <class Found>
void sort_by_time(std::vector<Found>& found) {
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
}

bool all_clocks_related(const Job& job) {
  return std::ranges::all_of(
      job.ranks, [](const RankTrace& rank) { return rank.activities.empty() || rank.clock.related; });
}

// Of the names that may count, what all their runs take.
std::vector<std::int64_t> total_by_name(const Job& job) {
  std::vector<std::int64_t> time(job.strings.size());
  for (const RankTrace& rank : job.ranks)
    for (const Activity& activity : rank.activities)
      if (may_be_unknown(activity))
        time[activity.name] =
            saturating_add(time[activity.name], saturating_length(activity.begin, activity.end));
  return time;
}

bool durations_vary(std::vector<std::int64_t>& durations) {
  if (durations.size() < 2) return false;
  std::sort(durations.begin(), durations.end());
  const std::int64_t first = durations[durations.size() / 4], third = durations[durations.size() * 3 / 4];
  return third - first > 0 && third - first >= durations[durations.size() / 2] / 3;
}

}  // namespace

RendezvousSearch search_rendezvous(const Job& job) {
  RendezvousSearch search;
  search.clocks_related = all_clocks_related(job);
  Names names;
  const std::size_t ranks = collect_runs(
      job, false, [](const RankTrace&, const Activity& activity) { return may_be_unknown(activity); }, names);
  if (ranks < 2) return search;
  for (const auto& [id, name] : names) {
    if (name.differs || name.runs.size() < 2) continue;
    const bool few = name.runs.size() < kFewestRuns;
    search.enough_runs = search.enough_runs || !few;
    if (ends_together_in_the_sum(name))
      (few ? search.of_few_runs : search.names).push_back(rendezvous_of(id, name));
  }
  sort_by_time(search.names);
  sort_by_time(search.of_few_runs);
  return search;
}

std::vector<RendezvousName> rendezvous_beside_known(const Job& job, std::int64_t least_ns) {
  constexpr std::size_t kMostNames = 3;
  std::vector<RendezvousName> found;
  if (!all_clocks_related(job) || !ranks_that_share_gpus(job).empty()) return found;
  const std::vector<std::int64_t> time = total_by_name(job);
  Names names;
  const std::size_t ranks = collect_runs(
      job, true,
      [&](const RankTrace& rank, const Activity& activity) {
        return activity.activity_class == Class::compute && time[activity.name] >= least_ns &&
               rank.lanes[activity.lane].kind == trace::LaneKind::device_stream;
      },
      names);
  if (ranks < 2) return found;
  for (const auto& [id, name] : names)
    if (!name.differs && ends_together_in_the_sum(name) && ends_together_in_most_runs(name))
      found.push_back(rendezvous_of(id, name));
  if (found.size() > kMostNames) found.clear();
  sort_by_time(found);
  return found;
}

std::vector<VaryingName> varying_names(const Job& job, std::int64_t least_ns) {
  struct OfName {
    std::vector<std::int64_t> durations;  // of the rank that is looked at
    std::size_t runs = 0, ranks = 0, varied = 0;
    bool differs = false;
  };
  const std::vector<std::int64_t> time = total_by_name(job);
  std::unordered_map<std::uint32_t, OfName> names;
  std::size_t ranks = 0;
  for (const RankTrace& rank : job.ranks) {
    if (rank.activities.empty()) continue;
    for (const Activity& activity : rank.activities)
      if (may_be_unknown(activity) && time[activity.name] >= least_ns)
        names[activity.name].durations.push_back(saturating_length(activity.begin, activity.end));
    ++ranks;
    for (auto& [id, name] : names) {
      if (name.durations.empty()) continue;
      name.differs = name.differs || (name.ranks > 0 && name.durations.size() != name.runs);
      name.runs = name.durations.size();
      ++name.ranks;
      name.varied += durations_vary(name.durations);
      name.durations.clear();
    }
  }
  std::vector<VaryingName> found;
  if (ranks < 2) return found;
  for (const auto& [id, name] : names)
    if (!name.differs && name.ranks == ranks && name.varied * 2 >= ranks)
      found.push_back({id, static_cast<std::int64_t>(name.runs), time[id]});
  sort_by_time(found);
  return found;
}

std::string_view function_of(std::string_view name) {
  const std::string_view whole = name;
  if (name.starts_with("void ")) name.remove_prefix(5);
  for (const std::string_view nameless : {"(anonymous namespace)::", "<unnamed>::"})
    if (const std::size_t at = name.find(nameless); at != std::string_view::npos)
      name.remove_prefix(at + nameless.size());
  name = name.substr(0, name.find_first_of("(<"));
  return name.empty() ? whole : name;
}

std::string expression_for(std::string_view name) {
  std::string expression;
  for (const char c : function_of(name)) {
    const auto byte = static_cast<unsigned char>(c);
    // RE2 takes a backslash before what is not ASCII for an error; an apostrophe needs none.
    const bool plain =
        std::isalnum(byte) != 0 || byte >= 0x80 || c == '_' || c == ':' || c == ' ' || c == '\'';
    if (!plain) expression += '\\';
    expression += c;
  }
  return expression;
}

std::string communication_flag(std::string_view name) {
  trace::Operation operation = trace::operation_in_name(name);
  if (operation == trace::Operation::unknown) operation = trace::Operation::all_reduce;
  // In quotation marks always: it stands in a sentence.
  const std::string pattern = expression_for(name) + "=" + trace::to_string(operation);
  const std::string word = for_shell(pattern);
  return "--communication " + (word.starts_with('\'') ? word : "'" + word + "'");
}

}  // namespace lockstep::analyzer
