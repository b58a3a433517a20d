// What a prepared run consists of: everything small as it is, everything that grows with the run as arrays of
// the tables (tables.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/cause_segment.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"
#include "viewer/prepared/cause_sums.h"
#include "viewer/prepared/counter_blocks.h"
#include "viewer/prepared/tables.h"
#include "viewer/prepared/time_range.h"

namespace lockstep::viewer {

// What the items of a lane's rows are indices of.
enum class LaneRole : std::uint8_t {
  causes,         // segments
  compute,        // activities
  communication,  // activities
  host,           // host ranges
  counter,        // it has no items: a counter's points (timeline.h)
};

// A step as it is drawn: the device window where the analysis has one, else the host's range.
struct StepSpan {
  std::int64_t number = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

struct RowContents {
  Extent<Nanoseconds> begin, end;
  Extent<std::uint64_t> busy, wait;
  Extent<std::uint32_t> item;
};

struct LaneContents {
  LaneRole role = LaneRole::causes;
  std::uint32_t job_lane = analyzer::kNone;  // RankContents::lanes; kNone for causes
  std::string label;
  std::vector<RowContents> rows;  // from the top; of host lanes row d holds depth d
};

struct CounterContents {
  std::string name;
  Extent<analyzer::CounterPoint> points;  // by time
  Extent<ValueRange> blocks;              // counter_blocks.h
  ValueRange range;                       // of all points
};

struct RankContents {
  std::int32_t rank = 0;
  std::string host, device, file;
  analyzer::Clock clock;
  std::int64_t resolution_ns = 1;
  std::uint64_t dropped_events = 0;
  std::vector<analyzer::JobLane> lanes;
  std::vector<analyzer::TimeSpan> lost, unrecorded;
  std::vector<LaneContents> tracks;
  std::vector<CounterContents> counters;
  Extent<StepSpan> steps;
  Extent<analyzer::StepMark> step_marks;
  Extent<analyzer::Activity> activities;
  Extent<analyzer::Communication> communications;
  Extent<analyzer::Computation> computations;
  Extent<analyzer::HostRange> host_ranges;
  Extent<analyzer::CauseSegment> segments;
  Extent<Nanoseconds> cause_begins;  // CauseBlocks
  Extent<CauseTimes> cause_sums;
  Extent<std::uint32_t> collective_of;  // by communication: of Contents::collectives, or kNone
  Extent<analyzer::CommunicationWait> waits;
  Extent<analyzer::Interval> pipeline_regions;
  // In a job that hung: since when the rank had ended nothing more, until the job's end, and what it was in
  // then (of the run's strings; 0: in no operation that is known). Empty elsewhere.
  TimeRange stood;
  std::uint32_t stood_in = 0;
};

// A collective of the report without its ranks. Texts are ids of the run's strings.
struct CollectiveHead {
  std::int64_t id = 0;
  std::int64_t step = 0;
  std::int64_t sequence = 0;
  std::int64_t bytes = 0;
  std::int64_t last_arriver_margin_ns = 0;
  std::int64_t wait_ns = 0;  // sum over ranks
  Nanoseconds begin = 0;     // the first arrival and the last end, on the timeline
  Nanoseconds end = 0;
  double algbw_gbps = 0, busbw_gbps = 0, busbw_wire_gbps = 0;
  std::uint64_t first_part = 0;  // Contents::collective_ranks
  std::uint32_t parts = 0;
  std::uint32_t name = 0, group_name = 0, evidence = 0;
  std::int32_t last_arriver = 0;
  analyzer::Operation operation = analyzer::Operation::unknown;
  analyzer::DataType data_type = analyzer::DataType::unknown;
  bool has_step = false, has_sequence = false, has_bytes = false, has_last_arriver = false;
  bool has_algbw = false, has_busbw = false, has_busbw_wire = false;
  bool partial = false, unfinished = false, root_unknown = false;
  // As CollectiveReport::waits_known(); where it is false, `wait_ns` says nothing.
  bool waits_known() const { return parts > 1 || !partial || unfinished; }
};

struct Contents {
  analyzer::Report report;  // without steps and collectives: they stand in the arrays
  std::string verdict;      // the report's first lines
  std::vector<analyzer::JobGroup> groups;
  std::vector<analyzer::Warning> import_warnings;
  std::vector<RankContents> ranks;
  TimeRange content;  // everything that has a time
  TimeRange focus;    // the ranks' windows, without what the hosts did around them
  Extent<std::uint64_t> string_ends;
  Extent<char> string_bytes;
  Extent<analyzer::StepReport> steps;
  Extent<CollectiveHead> collectives;
  Extent<analyzer::CollectiveRank> collective_ranks;
  Extent<std::uint32_t> costliest;  // of the steady steps, those in which somebody waited, longest first
};

}  // namespace lockstep::viewer
