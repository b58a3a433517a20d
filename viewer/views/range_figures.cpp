#include "viewer/views/range_figures.h"

#include <array>

namespace lockstep::viewer {

namespace {

using analyzer::Cause;
using analyzer::Measures;
using Figure = std::optional<std::int64_t>;

template <std::int64_t Measures::*kMember>
Figure measured(const Measures& m) {
  return m.known ? Figure(m.*kMember) : std::nullopt;
}

template <std::int64_t Measures::*kMember>
Figure waited(const Measures& m) {
  return m.known && m.waits_known ? Figure(m.*kMember) : std::nullopt;
}

template <Figure Measures::*kMember>
Figure scheduled(const Measures& m) {
  return m.known ? m.*kMember : std::nullopt;
}

template <Cause kCause>
Figure part(const Measures& m) {
  return m.known ? Figure(m.partition.ns[static_cast<std::size_t>(kCause)]) : std::nullopt;
}

Figure window(const Measures& m) {
  return m.known || m.window_ns > 0 ? Figure(m.window_ns) : std::nullopt;
}

Figure compute_over_communication(const Measures& m) {
  return m.known ? Figure(m.partition.compute_over_communication_ns) : std::nullopt;
}

constexpr std::array kFigures{
    RangeFigure{"window_ns", "the range, without what nobody recorded", &window},
    RangeFigure{"compute_ns", "something computed", &measured<&Measures::compute_ns>},
    RangeFigure{"communication_ns", "a collective or a message was under way",
                &measured<&Measures::communication_ns>},
    RangeFigure{"overlap_ns", "both at once", &measured<&Measures::overlap_ns>},
    RangeFigure{"exposed_communication_ns", "communication beside which nothing computed",
                &measured<&Measures::exposed_communication_ns>},
    RangeFigure{"collective_wait_ns", "waiting in collectives beside which nothing computed",
                &waited<&Measures::collective_wait_ns>},
    RangeFigure{"hidden_collective_wait_ns", "waiting in collectives, hidden behind compute",
                &waited<&Measures::hidden_collective_wait_ns>},
    RangeFigure{"p2p_wait_ns", "waiting for messages beside which nothing computed",
                &waited<&Measures::p2p_wait_ns>},
    RangeFigure{"hidden_p2p_wait_ns", "waiting for messages, hidden behind compute",
                &waited<&Measures::hidden_p2p_wait_ns>},
    RangeFigure{"unclassified_ns", "what looks like communication and could not be told",
                &measured<&Measures::unclassified_ns>},
    RangeFigure{"off_cpu_ns", "within computation, no training thread was on a core or waited for one",
                &scheduled<&Measures::off_cpu_ns>},
    RangeFigure{"run_queue_ns", "a training thread was ready to run and waited for a core",
                &scheduled<&Measures::run_queue_ns>},
    RangeFigure{"on_core_ns", "training threads ran: their sum, computing or not",
                &scheduled<&Measures::on_core_ns>},
    RangeFigure{"compute_over_communication_ns", "what of the cause compute hides communication",
                &compute_over_communication},
    RangeFigure{"partition.compute", "cause of these instants: each has one", &part<Cause::compute>},
    RangeFigure{"partition.transfer", "cause of these instants: each has one", &part<Cause::transfer>},
    RangeFigure{"partition.barrier_wait", "cause of these instants: each has one",
                &part<Cause::barrier_wait>},
    RangeFigure{"partition.pipeline_bubble", "cause of these instants: each has one",
                &part<Cause::pipeline_bubble>},
    RangeFigure{"partition.copy", "cause of these instants: each has one", &part<Cause::copy>},
    RangeFigure{"partition.data_wait", "cause of these instants: each has one", &part<Cause::data_wait>},
    RangeFigure{"partition.host_bound", "cause of these instants: each has one", &part<Cause::host_bound>},
    RangeFigure{"partition.queued", "cause of these instants: each has one", &part<Cause::queued>},
    RangeFigure{"partition.other", "cause of these instants: each has one", &part<Cause::other>},
};

}  // namespace

std::span<const RangeFigure> range_figures() {
  return kFigures;
}

}  // namespace lockstep::viewer
