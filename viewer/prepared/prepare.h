// From an analyzed job to a prepared run. Rank by rank, so that a maker of large runs need not hold them all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job.h"
#include "viewer/prepared/contents.h"
#include "viewer/prepared/tables.h"

namespace lockstep::viewer {

// What the analysis knows of one rank.
struct RankAnalysis {
  std::span<const analyzer::CauseSegment> segments;
  std::span<const std::uint32_t> collective_of;
  std::span<const analyzer::CommunicationWait> waits;
  std::span<const analyzer::Interval> pipeline_regions;
  std::span<const analyzer::JobGroup> groups = {};  // of the job: what its communications are of
};

struct Track;

class Preparation {
 public:
  explicit Preparation(TablesWriter writer) : writer_(std::move(writer)) {}

  // In the order of ranks. `steps`: the report's, of this rank, are drawn; none of them: the trace's own.
  void add_rank(const analyzer::RankTrace& trace, const RankAnalysis& analysis,
                std::span<const analyzer::StepReport> steps, Nanoseconds origin);
  // The same in two parts: what takes no analysis, which is most of it, so that it can be done beside the
  // analysis; and the rest, `rank` being the how manieth add_recorded() it belongs to.
  void add_recorded(const analyzer::RankTrace& trace);
  void add_analysis(std::size_t rank, const analyzer::RankTrace& trace, const RankAnalysis& analysis,
                    std::span<const analyzer::StepReport> steps, Nanoseconds origin);
  void add_collective(const analyzer::CollectiveReport& collective, Nanoseconds origin);
  void add_strings(const analyzer::StringTable& strings);
  // After all ranks: how long each one stood in a job that hung, and how much of that is seen at first.
  void add_hang(const analyzer::Job& job, const analyzer::Report& report);
  // Everything else. The report's steps and collectives are not looked at: give the former here, the latter
  // above.
  Result<std::shared_ptr<const Tables>> finish(const analyzer::Report& report,
                                               std::span<const analyzer::StepReport> steps,
                                               const std::vector<analyzer::JobGroup>& groups,
                                               const std::vector<analyzer::Warning>& import_warnings,
                                               std::uint64_t fingerprint);

 private:
  std::uint32_t string_id(const std::string& text);
  LaneContents write_track(const Track& track);
  CounterContents write_counter(const analyzer::CounterTrack& counter);

  TablesWriter writer_;
  Contents contents_;
  bool any_time_ = false;  // contents_.content holds something
  bool any_focus_ = false;
  std::vector<std::uint64_t> string_ends_;
  std::string string_bytes_;
  std::map<std::string, std::uint32_t, std::less<>> own_strings_;
  std::vector<CollectiveHead> collectives_;
  std::vector<analyzer::CollectiveRank> collective_ranks_;
};

// Asked before each rank with the share that is done, 0 to 1; false: stop.
using GoOn = std::function<bool(double done)>;

// The part of a job that takes no analysis: strings, and what each rank recorded. Ends early when told to.
void prepare_recorded(const analyzer::Job& job, Preparation& preparation, const GoOn& go_on = {});
// The rest of it. `fingerprint`: of the files that it was read from. Errors: the writer's; stopped.
Result<std::shared_ptr<const Tables>> prepare_analyzed(const analyzer::Job& job,
                                                       const analyzer::Analysis& analysis,
                                                       Preparation& preparation,
                                                       std::uint64_t fingerprint = 0, const GoOn& go_on = {});
// Both. `fingerprint`: of the files that it was read from. Errors: the writer's; stopped.
Result<std::shared_ptr<const Tables>> prepare(const analyzer::Job& job, const analyzer::Analysis& analysis,
                                              TablesWriter writer, std::uint64_t fingerprint = 0,
                                              const GoOn& go_on = {});

}  // namespace lockstep::viewer
