// Whether the kernel tells when threads run and wait for a core.
#include "tracer/doctor/checks.h"

namespace lockstep::tracer::doctor {

void check_scheduling(const Situation& situation, Checks& checks) {
  Check check{"scheduling.threads", {"scheduling"}, State::ok, "when threads wait for a core, from /proc"};
  if (!situation.machine.read("/proc/self/stat").has_value()) {
    check.state = State::missing;
    check.finding = "/proc is not mounted: nothing is known of threads";
    check.remedy = "mount /proc in the container";
  } else if (!situation.machine.read("/proc/self/schedstat").has_value()) {
    check.state = State::limited;
    check.finding = "no /proc/self/schedstat: when threads wait for a core can't be told";
    check.remedy = "a kernel with CONFIG_SCHED_INFO";
  }
  checks.push_back(check);
}

}  // namespace lockstep::tracer::doctor
