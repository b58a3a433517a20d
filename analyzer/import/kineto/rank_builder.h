// Collects one Kineto file's events into a RankImport. Events come in any order; what refers to other events
// (launches, surrounding ranges, groups) is joined at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/import/kineto/event_fields.h"
#include "analyzer/import/kineto/event_stream.h"
#include "analyzer/import/kineto/groups.h"
#include "analyzer/import/kineto/kineto.h"
#include "analyzer/import/kineto/name_table.h"
#include "analyzer/import/kineto/operators.h"
#include "analyzer/import/kineto/profiler_cost.h"
#include "analyzer/import/kineto/threads.h"
#include "analyzer/import/rank/kept_ranges.h"
#include "analyzer/import/rank/launches.h"
#include "analyzer/import/rank/passes.h"
#include "analyzer/import/rank/rank_import.h"
#include "trace/events/communication_names.h"

namespace lockstep::analyzer::kineto {

class RankBuilder : public EventSink {
 public:
  // `operators`: what the CPU computes is wanted, because no device does. `fraction_done` says how much of
  // the file was read, in (0, 1]: tables grow to what the whole will need, and not beyond.
  RankBuilder(std::string file, const Options& options, bool operators,
              std::function<double()> fraction_done);

  simdjson::error_code event(simdjson::ondemand::object& object, bool& whole) override;
  void member(std::string_view key, std::string_view json) override;

  // Whether the file holds operators of the CPU, and nothing that a device did.
  bool only_the_cpu_computed() const { return operators_seen_ && import_.trace.activities.empty(); }

  // Joins everything. The builder is used up.
  RankImport take();

 private:
  struct DeviceLane {
    std::int64_t device = 0;
    std::int64_t stream = 0;
    std::uint64_t activities = 0;  // sync apart
  };
  struct Times {
    Nanoseconds begin = 0, end = 0;
  };

  bool times(const EventFields& fields, Times& out);
  void device_event(const EventFields& fields, const Times& times);
  void note_process(const EventFields& fields);  // of an event of the host
  void launch_event(const EventFields& fields, const Times& times);
  void host_event(const EventFields& fields, const Times& times);
  void operator_event(const EventFields& fields, const Times& times);
  void communicate(const EventFields& fields, const Times& times,
                   const std::optional<trace::CommunicationName>& known);
  std::optional<Operation> said_by_user(std::string_view raw);
  bool keeps(const EventFields& fields, const Times& times);
  void metadata_event(const EventFields& fields);
  void add_communication(const DeviceArguments& arguments, Operation named, Activity& activity);
  std::uint32_t device_lane(const EventFields& fields);
  template <class Table>
  void make_room(Table& table);

  void join_launches();
  void resolve_communications(const std::vector<GroupTable::Resolved>& groups);
  void drop_other_devices();
  void name_lanes();
  void settle_rank(const std::vector<GroupTable::Resolved>& groups);
  void settle_clock();
  void warn_of_losses();

  RankImport import_;
  KeptRanges kept_;
  Options options_;
  bool wants_operators_ = false;
  bool operators_seen_ = false;
  std::function<double()> fraction_done_;
  NameTable names_;
  GroupTable groups_;
  LaunchTable launches_;
  RangeTable ranges_;
  std::vector<PassRange> passes_;
  OperatorTable operators_;
  std::unordered_map<std::string, std::optional<Operation>> said_by_user_;  // by the raw name
  ProfilerCost cost_;
  ThreadTable threads_;
  std::vector<DeviceLane> lanes_;
  std::size_t last_lane_ = 0;
  std::string training_;  // the last mark of it
  std::optional<std::int64_t> base_time_ns_;
  bool fractions_ = false;                  // a time is no whole µs
  std::uint64_t without_time_ = 0;          // dropped: `ts` missing or out of range
  std::uint64_t without_duration_ = 0;      // dropped: `dur` missing or no number
  std::uint64_t negative_duration_ = 0;     // dropped
  std::uint64_t overflowing_duration_ = 0;  // dropped
  std::uint64_t begin_end_events_ = 0;      // `ph` B and E, which Kineto does not write
};

}  // namespace lockstep::analyzer::kineto
