#include "analyzer/export/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analyzer/report/palette.h"

namespace lockstep::analyzer {
namespace {

bool starts_before(const Slice& a, const Slice& b) {
  return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
}

// Splits slices into as few tracks as first fit gives, each properly nested, and appends them.
void add_nested(std::vector<Track>& tracks, const std::string& name, SliceKind kind,
                std::vector<Slice> slices) {
  if (slices.empty()) return;
  std::stable_sort(slices.begin(), slices.end(), starts_before);
  const std::size_t first = tracks.size();
  std::vector<std::vector<Nanoseconds>>
      open;  // per track: ends of the slices that are open, the innermost last
  for (const Slice& slice : slices) {
    std::size_t t = 0;
    for (; t < open.size(); ++t) {
      while (!open[t].empty() && open[t].back() <= slice.begin) open[t].pop_back();
      if (open[t].empty() || open[t].back() >= slice.end) break;
    }
    if (t == open.size()) {
      open.emplace_back();
      tracks.push_back({t == 0 ? name : fmt::format("{} ({})", name, t + 1), kind, {}});
    }
    open[t].push_back(slice.end);
    tracks[first + t].slices.push_back(slice);
  }
}

std::string lane_name(const JobLane& lane, std::size_t index) {
  if (!lane.name.empty()) return lane.name;
  return fmt::format("{} {}", trace::to_string(lane.kind), lane.handle != 0 ? lane.handle : index);
}

const CollectiveRank* find_rank(const CollectiveReport& collective, std::int32_t rank,
                                std::uint32_t activity) {
  const auto is_it = [&](const CollectiveRank& r) {
    return r.rank == rank && (r.activity == activity || r.activity == kNone);
  };
  // Usually sorted by rank; where it is not, look everywhere.
  const auto guess =
      std::lower_bound(collective.ranks.begin(), collective.ranks.end(), rank,
                       [](const CollectiveRank& r, std::int32_t value) { return r.rank < value; });
  if (guess != collective.ranks.end() && is_it(*guess)) return &*guess;
  const auto found = std::find_if(collective.ranks.begin(), collective.ranks.end(), is_it);
  return found == collective.ranks.end() ? nullptr : &*found;
}

const char* to_string(HostKind kind) {
  switch (kind) {
    case HostKind::module:
      return "module";
    case HostKind::operation:
      return "operator";
    case HostKind::python_place:
      return "python_place";
    case HostKind::step:
      return "step";
    case HostKind::data_loading:
      return "data_loading";
    case HostKind::launch:
      return "launch";
    case HostKind::other:
      break;
  }
  return "host";
}

}  // namespace

std::string name_of_rank(const RankTrace& rank) {
  std::string name = fmt::format("rank {}", rank.rank);
  if (!rank.host.empty()) name += ", " + rank.host;
  if (!rank.device.empty()) name += ", " + rank.device;
  return name;
}

Timeline::Timeline(const Job& job, const Analysis& analysis)
    : job_(job),
      analysis_(analysis),
      flows_(analysis.report.collectives.size()),
      steps_of_rank_(job.ranks.size()) {
  const auto earlier = [](const CollectiveRank& a, const CollectiveRank& b) {
    return a.arrival_ns != b.arrival_ns ? a.arrival_ns < b.arrival_ns : a.rank < b.rank;
  };
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const std::vector<CollectiveRank>& ranks = analysis.report.collectives[i].ranks;
    if (ranks.size() < 2) continue;
    const auto [first, last] = std::minmax_element(ranks.begin(), ranks.end(), earlier);
    flows_[i] = {&*first, &*last};
  }
  std::unordered_map<std::int32_t, std::size_t> index_of_rank;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) index_of_rank[job.ranks[r].rank] = r;
  for (std::uint32_t i = 0; i < analysis.report.steps.size(); ++i) {
    const auto rank = index_of_rank.find(analysis.report.steps[i].rank);
    if (rank != index_of_rank.end()) steps_of_rank_[rank->second].push_back(i);
  }
}

std::vector<Track> Timeline::tracks_of_rank(std::size_t rank_index) const {
  const RankTrace& rank = job_.ranks[rank_index];
  std::vector<Track> tracks;

  if (rank_index < analysis_.segments.size()) {
    Track causes{"cause", SliceKind::cause, {}};
    const auto& segments = analysis_.segments[rank_index];
    for (std::uint32_t i = 0; i < segments.size(); ++i) {
      causes.slices.push_back({segments[i].begin, segments[i].end, i});
    }
    if (!causes.slices.empty()) tracks.push_back(std::move(causes));
  }
  const Nanoseconds origin = analysis_.report.origin_aligned_ns;
  std::vector<Slice> steps;
  for (const std::uint32_t i : steps_of_rank_[rank_index]) {
    const StepReport& step = analysis_.report.steps[i];
    steps.push_back({origin + step.begin_ns, origin + step.end_ns, i});
  }
  add_nested(tracks, "steps", SliceKind::step, std::move(steps));

  std::vector<std::vector<Slice>> of_lane(rank.lanes.size());
  for (std::uint32_t i = 0; i < rank.activities.size(); ++i) {
    const Activity& activity = rank.activities[i];
    of_lane[activity.lane].push_back({activity.begin, activity.end, i});
  }
  for (std::size_t lane = 0; lane < of_lane.size(); ++lane) {
    add_nested(tracks, lane_name(rank.lanes[lane], lane), SliceKind::activity, std::move(of_lane[lane]));
    of_lane[lane] = {};
  }
  for (std::uint32_t i = 0; i < rank.host_ranges.size(); ++i) {
    const HostRange& range = rank.host_ranges[i];
    of_lane[range.lane].push_back({range.begin, range.end, i});
  }
  for (std::size_t lane = 0; lane < of_lane.size(); ++lane) {
    add_nested(tracks, lane_name(rank.lanes[lane], lane), SliceKind::host_range, std::move(of_lane[lane]));
  }
  return tracks;
}

Nanoseconds Timeline::earliest_time() const {
  constexpr Nanoseconds kLatest = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds earliest = kLatest;
  for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
    const RankTrace& rank = job_.ranks[r];
    if (!rank.activities.empty()) earliest = std::min(earliest, rank.activities.front().begin);
    for (const HostRange& range : rank.host_ranges) earliest = std::min(earliest, range.begin);
    for (const CounterTrack& counter : rank.counters)
      if (!counter.points.empty()) earliest = std::min(earliest, counter.points.front().time);
    if (r < analysis_.segments.size() && !analysis_.segments[r].empty()) {
      earliest = std::min(earliest, analysis_.segments[r].front().begin);
    }
  }
  for (const StepReport& step : analysis_.report.steps) {
    earliest = std::min(earliest, analysis_.report.origin_aligned_ns + step.begin_ns);
  }
  return earliest == kLatest ? 0 : earliest;
}

void Timeline::describe(std::size_t rank_index, SliceKind kind, const Slice& slice,
                        SliceDetails& details) const {
  details.arguments.clear();
  details.flow = FlowPlace::none;
  details.flow_id = 0;
  switch (kind) {
    case SliceKind::cause:
      details.name = style_of(analysis_.segments[rank_index][slice.index].cause).label;
      details.category = "cause";
      break;
    case SliceKind::step:
      details.text = fmt::format("step {}", analysis_.report.steps[slice.index].step);
      details.name = details.text;
      details.category = "step";
      break;
    case SliceKind::activity:
      describe_activity(rank_index, slice.index, details);
      break;
    case SliceKind::host_range: {
      const HostRange& range = job_.ranks[rank_index].host_ranges[slice.index];
      details.name = job_.strings.view(range.name);
      details.category = to_string(range.kind);
      break;
    }
  }
}

void Timeline::describe_activity(std::size_t rank_index, std::uint32_t index, SliceDetails& details) const {
  const RankTrace& rank = job_.ranks[rank_index];
  const Activity& activity = rank.activities[index];
  details.name = job_.strings.view(activity.name);
  details.category = to_string(activity.activity_class);
  if (activity.step != kNone) details.arguments.emplace_back("step", rank.steps[activity.step].number);
  if (activity.launch_begin != kUnknownTime && activity.launch_begin < activity.begin) {
    details.arguments.emplace_back("launched_before_ns", activity.begin - activity.launch_begin);
  }
  if (activity.compute != kNone) {
    const Computation& computation = rank.computations[activity.compute];
    if (computation.layer >= 0) details.arguments.emplace_back("layer", std::int64_t{computation.layer});
    if (computation.microbatch >= 0)
      details.arguments.emplace_back("microbatch", std::int64_t{computation.microbatch});
    if (computation.pass != Pass::other)
      details.arguments.emplace_back("pass", std::string_view(trace::to_string(computation.pass)));
  }
  if (activity.communication != kNone) describe_communication(rank_index, activity, details);
}

void Timeline::describe_communication(std::size_t rank_index, const Activity& activity,
                                      SliceDetails& details) const {
  const RankTrace& rank = job_.ranks[rank_index];
  const Communication& communication = rank.communications[activity.communication];
  auto& arguments = details.arguments;
  if (communication.operation != Operation::unknown) {
    details.name = trace::to_string(communication.operation);
    arguments.emplace_back("kernel", job_.strings.view(activity.name));
  }
  if (communication.group != kNone) arguments.emplace_back("group", job_.groups[communication.group].name);
  if (communication.sequence != kNoSequence) arguments.emplace_back("sequence", communication.sequence);
  if (communication.bytes >= 0) arguments.emplace_back("bytes", communication.bytes);
  if (communication.data_type != DataType::unknown) {
    arguments.emplace_back("dtype", trace::to_string(communication.data_type));
  }
  if (communication.peer != kNoRank) arguments.emplace_back("peer", std::int64_t{communication.peer});

  if (rank_index >= analysis_.collective_of.size()) return;
  const auto& matched = analysis_.collective_of[rank_index];
  if (activity.communication >= matched.size() || matched[activity.communication] == kNone) return;
  const std::uint32_t index = matched[activity.communication];
  const CollectiveReport& collective = analysis_.report.collectives[index];
  arguments.emplace_back("collective", collective.id);
  if (collective.last_arriver) arguments.emplace_back("last_arriver", std::int64_t{*collective.last_arriver});
  if (collective.partial) arguments.emplace_back("partial", true);
  if (collective.unfinished) arguments.emplace_back("unfinished", true);
  const CollectiveRank* self =
      find_rank(collective, rank.rank, static_cast<std::uint32_t>(&activity - rank.activities.data()));
  if (self == nullptr) return;
  arguments.emplace_back("wait_ns", self->wait_ns);
  arguments.emplace_back("transfer_ns", self->transfer_ns);
  const Ends& ends = flows_[index];
  if (ends.first == nullptr) return;
  details.flow = self == ends.first  ? FlowPlace::first
                 : self == ends.last ? FlowPlace::last
                                     : FlowPlace::middle;
  details.flow_id = std::uint64_t{index} + 1;
}

}  // namespace lockstep::analyzer
