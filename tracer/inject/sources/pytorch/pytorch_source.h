// The writer thread's half of the PyTorch source: brings the records of all threads into the order of their
// times and makes events of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracer/inject/core/source.h"
#include "tracer/inject/sources/pytorch/forwards_without_gradients.h"
#include "tracer/inject/sources/pytorch/modules_of_nodes.h"
#include "tracer/inject/sources/pytorch/operations.h"
#include "tracer/inject/sources/pytorch/training_loop.h"

namespace lockstep::tracer::pytorch {

// The domain of its ranges.
inline constexpr const char* kRangeDomain = "PyTorch";

class PytorchSource final : public Source {
 public:
  static PytorchSource& instance() noexcept;

  // Something that could not be followed, for the manifest. From any thread.
  void add_problem(std::string_view problem);

  const char* name() const noexcept override { return "pytorch"; }
  void begin(SourceContext& context) override;
  void consume(std::uint32_t thread, std::uint8_t type, const std::byte* body, std::uint32_t bytes,
               trace::Nanoseconds time) override;
  void end_drain(trace::Nanoseconds now) override;
  void finish(trace::Nanoseconds now) override;
  void note_open() override;
  void after_fork_in_child() noexcept override;

 private:
  // A record that waits until all that happened before it has arrived.
  struct Event {
    trace::Nanoseconds time = 0;
    std::uint32_t thread = 0;
    RecordType type = RecordType::range_begin;
    std::uint32_t bytes = 0;
    std::size_t body = 0;  // where it begins in bodies_
  };
  struct OpenRange {
    trace::Nanoseconds begin = 0;
    trace::StringId name = 0;
    trace::StringId category = 0;
    RangeMeaning meaning;
    bool without_gradients = false;
    bool shown = true;
    bool noted = false;
    bool nested = true;  // false: it may overlap the others, as what the hook tells of does
    RecordType closed_by = RecordType::range_end;
    std::uint64_t key = 0;  // which of those that this closes: the range, the phase
  };
  struct Thread {
    std::uint32_t id = 0;
    std::string name;
    trace::LaneId host = kNoLane;  // calls, steps
    trace::LaneId ranges = kNoLane;
    trace::LaneId stacks = kNoLane;  // what it saw of the main thread's
    trace::LaneId compute = kNoLane;
    trace::LaneId communication = kNoLane;
    std::vector<OpenRange> open;
    TrainingLoop loop;
    ForwardsWithoutGradients evaluation;
    ModulesOfNodes modules;
    bool has_modules = false;
    // Nodes of autograd, one after the other, that one module's call made.
    struct BackwardOfModule {
      trace::StringId module = 0;
      trace::Nanoseconds begin = 0, end = 0;
    };
    std::optional<BackwardOfModule> backward;
    Called called;
  };
  static constexpr trace::LaneId kNoLane = 0xFFFFFFFFU;

  void process(const Event& event);
  void process_before(trace::Nanoseconds horizon);
  // --- pytorch_source_ranges.cpp ---
  static bool is_whole_forward(const Thread& thread, const RangeMeaning& meaning, std::string_view name);
  void open_range(Thread& thread, const Event& event, const std::byte* body);
  OpenRange& open(Thread& thread, trace::Nanoseconds time, std::string_view name, RecordType closed_by,
                  std::uint64_t key, bool shown = true);
  void close(Thread& thread, RecordType by, std::uint64_t key, trace::Nanoseconds time);
  // Of a range of the thread, or of where another thread's Python was.
  void past_range(Thread& thread, const Event& event, const std::byte* body);
  // What the hook tells of when it begins, as the process may be killed before it ends.
  void long_range(Thread& thread, const Event& event, const std::byte* body);
  void write_evaluation(Thread& thread);
  trace::LaneId lane_of_stacks(Thread& thread);
  trace::LaneId lane_of_ranges(Thread& thread);
  void phase(Thread& thread, const Event& event, const std::byte* body);
  void end_phase(Thread& thread, const Event& event, const std::byte* body);
  // --- pytorch_source_operators.cpp ---
  void module_begin(Thread& thread, const Event& event, const std::byte* body);
  void operator_begin(Thread& thread, const Event& event, const std::byte* body);
  void operator_end(Thread& thread, const Event& event);
  void end_backward_of_module(Thread& thread);
  // The module whose call made the node.
  std::optional<trace::StringId> module_of(std::uint64_t node) const;
  void write_loops();
  void note_open_before(trace::Nanoseconds horizon);
  void tell_problems();
  Thread& thread(std::uint32_t id);
  trace::LaneId lane(std::uint32_t id, Thread& thread, trace::LaneKind kind);

  SourceContext* context_ = nullptr;
  std::unique_ptr<Operations> operations_;
  std::map<std::uint32_t, Thread> threads_;
  std::vector<Event> waiting_;
  std::vector<std::byte> bodies_;
  std::vector<TrainingLoop::Computed> computed_;  // until it is known whether the CPU is the device
  std::vector<trace::LaneId> computed_lanes_;
  std::optional<std::string> told_;  // of the problems, to the file
  trace::Nanoseconds drain_before_ = 0;
  std::uint32_t step_thread_ = 0;  // that declares the steps; 0: none yet
  enum class Device : std::uint8_t { unknown, cpu, gpu } device_ = Device::unknown;
};

}  // namespace lockstep::tracer::pytorch
