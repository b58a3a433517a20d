#include "analyzer/import/rank/settle_communication.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/counts.h"
#include "trace/events/communication_names.h"

namespace lockstep::analyzer {
namespace {

// What a name means for activities of that name; asked once a name.
struct Meaning {
  enum class Kind : std::uint8_t { not_looked_at, nothing, said, fused };
  Kind kind = Kind::not_looked_at;
  Operation operation = Operation::unknown;
};

bool may_change(Class activity_class) {
  return activity_class == Class::compute || activity_class == Class::unclassified ||
         activity_class == Class::copy;
}

class Settling {
 public:
  Settling(RankImport& rank, const CommunicationPatterns* patterns)
      : rank_(rank), patterns_(patterns), meanings_(rank.strings.size()) {}

  void run() {
    std::vector<Activity>& activities = rank_.trace.activities;
    const std::size_t read = activities.size();
    for (std::size_t i = 0; i < read; ++i) {
      if (!may_change(activities[i].activity_class)) continue;
      const Meaning& meaning = meaning_of(activities[i].name);
      if (meaning.kind == Meaning::Kind::said) {
        communicate(activities[i], static_cast<std::uint32_t>(i), meaning.operation);
      } else if (meaning.kind == Meaning::Kind::fused && activities[i].activity_class == Class::compute &&
                 is_on_a_device(activities[i])) {
        Activity second = activities[i];
        add_second(second, meaning.operation);
      }
    }
    if (fused_ > 0)
      rank_.warn(
          "fused_communication",
          fmt::format("{}: {} compute and communicate at once, and count as both: {:.3f} ms (e.g. \"{}\"). "
                      "What of it is waiting for other ranks is not known",
                      rank_.trace.file, format_plural(fused_, "kernel", "kernels"),
                      static_cast<double>(fused_ns_) / 1e6, rank_.strings.view(first_fused_)));
  }

 private:
  const Meaning& meaning_of(std::uint32_t name) {
    Meaning& meaning = meanings_[name];
    if (meaning.kind != Meaning::Kind::not_looked_at) return meaning;
    const std::string_view text = rank_.strings.view(name);
    meaning.kind = Meaning::Kind::nothing;
    if (patterns_ != nullptr) {
      if (const std::optional<Operation> operation = patterns_->find(text)) {
        meaning = {Meaning::Kind::said, *operation};
        return meaning;
      }
    }
    if (const auto known = trace::communication_kernel(text); known && known->computes)
      meaning = {Meaning::Kind::fused, known->operation};
    return meaning;
  }

  bool is_on_a_device(const Activity& activity) const {
    return rank_.trace.lanes[activity.lane].kind == trace::LaneKind::device_stream;
  }

  void communicate(Activity& activity, std::uint32_t index, Operation operation) {
    activity.activity_class = is_point_to_point(operation) ? Class::p2p : Class::collective;
    activity.compute = kNone;
    activity.communication = static_cast<std::uint32_t>(rank_.trace.communications.size());
    Communication communication;
    communication.activity = index;
    communication.operation = operation;
    rank_.trace.communications.push_back(communication);
  }

  void add_second(Activity activity, Operation operation) {
    if (fused_ == 0) first_fused_ = activity.name;
    ++fused_;
    fused_ns_ += activity.end - activity.begin;
    const auto [where, fresh] =
        lanes_.try_emplace(activity.lane, static_cast<std::uint32_t>(rank_.trace.lanes.size()));
    if (fresh) {
      JobLane lane = rank_.trace.lanes[activity.lane];
      lane.kind = trace::LaneKind::communication;
      lane.name += " (communication of its kernels)";
      rank_.trace.lanes.push_back(std::move(lane));
    }
    activity.lane = where->second;
    communicate(activity, static_cast<std::uint32_t>(rank_.trace.activities.size()), operation);
    rank_.trace.activities.push_back(activity);
  }

  RankImport& rank_;
  const CommunicationPatterns* patterns_;
  std::vector<Meaning> meanings_;                 // by StringTable's ids
  std::map<std::uint32_t, std::uint32_t> lanes_;  // the second lane of a stream
  std::uint64_t fused_ = 0;
  Nanoseconds fused_ns_ = 0;
  std::uint32_t first_fused_ = 0;
};

}  // namespace

void settle_communication(RankImport& rank, const CommunicationPatterns* patterns) {
  Settling(rank, patterns).run();
}

}  // namespace lockstep::analyzer
