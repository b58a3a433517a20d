// The source of what NCCL does: through its profiler plugin (tables.h), or through its NVTX ranges where
// there is none. It writes issues (trace::CollectiveIssue): which operation, of which communicator, how
// large, how. When the GPU ran it is in what CUPTI records; the analyzer joins the two.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "tracer/inject/core/source.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/inject/sources/nccl/batches.h"
#include "tracer/inject/sources/nccl/communicators.h"
#include "tracer/inject/sources/nccl/network_ranges.h"
#include "tracer/inject/sources/nccl/nvtx_issues.h"

namespace lockstep::tracer::nccl {

class NcclSource final : public Source {
 public:
  const char* name() const noexcept override { return "nccl"; }
  std::string_view nvtx_domain() const noexcept override { return NvtxIssues::kDomain; }

  void begin(SourceContext& context) override;
  void consume(std::uint32_t thread, std::uint8_t type, const std::byte* body, std::uint32_t bytes,
               trace::Nanoseconds time) override;
  void range(std::uint32_t thread, const trace::HostRange& range,
             std::span<const trace::Argument> arguments) override;
  void end_drain(trace::Nanoseconds now) override;
  void finish(trace::Nanoseconds now) override;

 private:
  // What is of one file.
  struct State {
    explicit State(SourceContext& context)
        : context(context),
          lanes(context.host_lanes),
          batches(context.writer, lanes, communicators),
          ranges(context.writer, communicators, batches),
          network(context.writer, lanes, context.process.process) {}
    SourceContext& context;
    HostLanes& lanes;
    Communicators communicators;
    Batches batches;
    NvtxIssues ranges;
    NetworkRanges network;
    std::uint64_t drain = 0;
    trace::Nanoseconds last_drain = 0;
    std::uint64_t refused = 0;
    bool described = false;
  };

  void note_losses(trace::Nanoseconds now);
  void describe();

  std::optional<State> state_;
};

// Makes the source known to the tracer, if the user wants it and anything is recorded. False if not. May be
// called often, on any thread.
bool register_source() noexcept;
bool register_source(std::atomic<SourceId>& id) noexcept;

}  // namespace lockstep::tracer::nccl
