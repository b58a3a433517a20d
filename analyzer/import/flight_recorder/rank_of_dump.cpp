#include "analyzer/import/flight_recorder/rank_of_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "analyzer/import/rank/names.h"
#include "analyzer/import/rank/rank_list.h"
#include "base/numbers.h"

namespace lockstep::analyzer::flight_recorder {
namespace {

// ProcessGroupNCCL's watchdog looks ten times a second: starts and ends are seen that much late.
constexpr std::int64_t kWatchdogPeriod = 100'000'000;

class RankOfDump {
 public:
  RankOfDump(const Dump& dump, const std::string& file, std::optional<std::int32_t> rank, bool cut)
      : dump_(dump), cut_(cut || dump.unreadable > 0) {
    import_.source = "flight recorder";
    import_.is_dump = true;
    import_.trace.file = file;
    import_.rank_known = rank.has_value();
    import_.trace.rank = rank.value_or(0);
    import_.trace.resolution_ns = kWatchdogPeriod;
    import_.groups_are_its_own = true;
    if (!dump.entries.empty())
      import_.trace.device = dump.entries[0].name.starts_with("gloo:") ? "cpu" : "cuda";
    // Up to PyTorch 2.10 Gloo's works are recorded when they are issued, and never again.
    knows_ends_ = std::any_of(dump.entries.begin(), dump.entries.end(), [](const Entry& entry) {
      return has_ended(entry) || !entry.name.starts_with("gloo:");
    });
    // ProcessGroupNCCL sees starts only where it times its works (TORCH_NCCL_ENABLE_TIMING).
    knows_starts_ = std::any_of(dump.entries.begin(), dump.entries.end(), [](const Entry& entry) {
      return entry.started.has_value() || entry.state == State::started;
    });
  }

  RankImport take() {
    settle_clock();
    declare_groups();
    settle_group_ids();
    for (const Entry& entry : dump_.entries) add(entry);
    std::stable_sort(import_.trace.ending.operations.begin(), import_.trace.ending.operations.end(),
                     [](const OpenOperation& a, const OpenOperation& b) { return a.begin < b.begin; });
    add_progress();
    finish(import_);
    return std::move(import_);
  }

 private:
  // Times count from the first call that the dump holds.
  void settle_clock() {
    zero_ = 0;
    std::int64_t latest = 0;
    for (const Entry& entry : dump_.entries) {
      if (entry.created > 0 && (zero_ == 0 || entry.created < zero_)) zero_ = entry.created;
      latest = std::max({latest, entry.created, entry.completed.value_or(0)});
    }
    import_.clock_name = "wall clock";
    import_.clock_zero = zero_;
    if (zero_ > 0) import_.realtime_of_zero = zero_;
    // A dump is written when an operation timed out: what had not ended then hung. When that was, it doesn't
    // say.
    import_.trace.ending.hang_noted = time(latest);
  }
  Nanoseconds time(std::int64_t realtime) const {
    Nanoseconds out = 0;
    if (__builtin_sub_overflow(realtime, zero_, &out)) return realtime < 0 ? -kLatest : kLatest;
    return std::clamp(out, -kLatest, kLatest);
  }

  struct Known {
    std::uint32_t id = kNone;
    std::vector<std::int32_t> order;  // rank in the group -> global rank
  };
  // The first declaration of a name counts: pg_config, which has the ranks, comes before the entries.
  const Known& declare(const std::string& name, const std::string& description, std::string_view ranks) {
    const auto [where, fresh] = groups_.try_emplace(name);
    if (!fresh) return where->second;
    const RankList list = parse_ranks(ranks);
    JobGroup group;
    group.name = name;
    group.description = description;
    if (!list.cut && !list.ranks.empty()) {
      where->second.order = list.ranks;
      std::vector<std::int32_t> ranks = list.ranks;
      std::sort(ranks.begin(), ranks.end());
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
      group.ranks = std::move(ranks);
    }
    where->second.id = import_.intern_group(group);
    return where->second;
  }
  void declare_groups() {
    for (const Group& group : dump_.groups) {
      if (group.name.empty()) continue;  // Gloo's
      const Known& known = declare(group.name, group.description, group.ranks);
      // The default group is the first that is made, and holds every rank.
      if (group.description == "default_pg" || group.name == "0" || group.name == "default_pg")
        import_.world_size = std::max(import_.world_size, static_cast<std::int32_t>(known.order.size()));
    }
  }

  // "pg_status" counts the process's groups, "pg_config" names them: as they were made, in both. The entries,
  // which have both, must agree.
  void settle_group_ids() {
    if (dump_.status.size() == dump_.groups.size()) {
      for (std::size_t i = 0; i < dump_.status.size(); ++i)
        name_of_id_[dump_.status[i].group_id] = dump_.groups[i].name;
    }
    for (const Entry& entry : dump_.entries) {
      const auto found = name_of_id_.find(entry.group_id);
      if (found == name_of_id_.end() || found->second == entry.group) continue;
      name_of_id_.clear();
      break;
    }
    for (const Entry& entry : dump_.entries)
      if (!entry.group.empty()) name_of_id_[entry.group_id] = entry.group;
  }

  void add(const Entry& entry) {
    const Known& group = declare(entry.group, entry.group_description, "");
    const Operation operation = operation_in_name(entry.name);
    const std::int32_t peer = entry.is_message ? peer_of(entry.name, operation, group) : kNoRank;
    if (!has_ended(entry)) {
      OpenOperation open;
      open.begin = time(entry.created);
      open.name = import_.strings.intern(name_of(entry, operation, peer));
      open.group = group.id;
      open.operation = operation;
      open.peer = peer;
      open.sequence = entry.sequence;
      open.may_have_ended = !knows_ends_;
      open.begun = !knows_starts_ || entry.started.has_value() || entry.state == State::started;
      import_.trace.ending.operations.push_back(open);
    } else if (entry.started && entry.completed && *entry.completed >= *entry.started) {
      add_activity(entry, group, operation, peer);
      import_.trace.ending.last_ended.reset();
    } else {
      import_.trace.ending.last_ended = {import_.strings.intern(name_of(entry, operation, peer)), group.id,
                                         entry.sequence, entry.is_message};
    }
    if (!entry.place.empty()) import_.trace.ending.doing = entry.place;
  }

  void add_activity(const Entry& entry, const Known& group, Operation operation, std::int32_t peer) {
    Communication communication;
    communication.group = group.id;
    communication.operation = operation;
    communication.data_type = entry.data_type;
    communication.has_metadata = true;
    communication.peer = peer;
    communication.sequence = entry.sequence;
    communication.bytes = entry.bytes;
    Activity activity;
    activity.begin = time(*entry.started);
    activity.end = time(*entry.completed);
    // When it was issued is told, but nothing of what the rank did before: as a launch it would make the host
    // late.
    activity.name = import_.strings.intern(name_of(entry, operation, peer));
    activity.lane = lane_of(group.id, entry);
    activity.activity_class = entry.is_message ? Class::p2p : Class::collective;
    activity.communication = static_cast<std::uint32_t>(import_.trace.communications.size());
    communication.activity = static_cast<std::uint32_t>(import_.trace.activities.size());
    import_.trace.communications.push_back(communication);
    import_.trace.activities.push_back(activity);
  }

  std::uint32_t lane_of(std::uint32_t group, const Entry& entry) {
    const auto [where, fresh] =
        lanes_.try_emplace(group, static_cast<std::uint32_t>(import_.trace.lanes.size()));
    if (fresh) {
      JobLane lane;
      lane.kind = trace::LaneKind::communication;
      lane.handle = group;
      lane.name = entry.group_description.empty() ? "group " + entry.group : entry.group_description;
      import_.trace.lanes.push_back(lane);
    }
    return where->second;
  }

  static bool has_ended(const Entry& entry) { return entry.state == State::completed || entry.retired; }

  // Ranks of a group would be taken for the job's.
  static std::string name_of(const Entry& entry, Operation operation, std::int32_t peer) {
    if (!entry.is_message) return entry.name;
    const std::string backend = entry.name.substr(0, entry.name.find(':') + 1);
    const bool sends = operation == Operation::send;
    const char* const what = sends ? "send" : "recv";
    if (peer != kNoRank) return fmt::format("{}{} {} rank {}", backend, what, sends ? "to" : "from", peer);
    const std::size_t at = entry.name.find(' ');
    return at == std::string::npos ? entry.name : fmt::format("{} (ranks of the group)", entry.name);
  }

  // "nccl:send 0->3", "nccl:recv 3<-0": ranks of the group, its own first.
  static std::int32_t peer_of(std::string_view name, Operation operation, const Known& group) {
    const std::string_view arrow = operation == Operation::send ? "->" : "<-";
    const std::size_t at = name.find(arrow);
    if (at == std::string_view::npos) return kNoRank;
    name.remove_prefix(at + arrow.size());
    const auto within = take_number<std::uint32_t>(name);
    if (!within || *within >= group.order.size()) return kNoRank;
    return group.order[*within];
  }

  void add_progress() {
    for (const GroupStatus& status : dump_.status) {
      const auto name = name_of_id_.find(status.group_id);
      if (name == name_of_id_.end()) continue;
      const auto group = groups_.find(name->second);
      if (group == groups_.end()) continue;
      import_.trace.ending.progress.push_back({group->second.id,
                                               std::max<std::int64_t>(status.enqueued, kNoSequence),
                                               std::max<std::int64_t>(status.completed, kNoSequence)});
    }
    add_counted();
  }

  // Of groups whose counts the dump does not have: how far its collectives go. The recorder drops the oldest,
  // so that the last one issued is among them, but for a dump that is cut.
  void add_counted() {
    std::map<std::uint32_t, GroupProgress> counted;
    std::map<std::uint32_t, std::int64_t> first_open;
    for (const Entry& entry : dump_.entries) {
      if (entry.is_message || entry.sequence < 0) continue;
      const std::uint32_t group = groups_.at(entry.group).id;
      GroupProgress& progress = counted.try_emplace(group, GroupProgress{.group = group}).first->second;
      if (!cut_) progress.issued = std::max(progress.issued, entry.sequence);
      if (has_ended(entry)) {
        progress.ended = std::max(progress.ended, entry.sequence);
      } else {
        const auto [open, fresh] = first_open.try_emplace(group, entry.sequence);
        open->second = std::min(open->second, entry.sequence);
      }
    }
    std::vector<GroupProgress>& all = import_.trace.ending.progress;
    const auto is_told = [&all](std::uint32_t group) {
      return std::ranges::any_of(all, [group](const GroupProgress& one) { return one.group == group; });
    };
    for (auto& [group, progress] : counted) {
      // Gloo's may end out of order.
      if (const auto open = first_open.find(group); open != first_open.end())
        progress.ended = std::min(progress.ended, open->second - 1);
      if (!is_told(group)) all.push_back(progress);
    }
  }

  const Dump& dump_;
  bool cut_;
  RankImport import_;
  std::int64_t zero_ = 0;
  bool knows_ends_ = true;
  bool knows_starts_ = false;
  std::map<std::string, Known> groups_;
  std::map<std::int64_t, std::string> name_of_id_;
  std::map<std::uint32_t, std::uint32_t> lanes_;
};

}  // namespace

RankImport rank_of_dump(const Dump& dump, const std::string& file, std::optional<std::int32_t> rank,
                        bool cut) {
  return RankOfDump(dump, file, rank, cut).take();
}

}  // namespace lockstep::analyzer::flight_recorder
