// The stand-in libtorch_cpu.so: as much of Kineto as tells whether it takes a trace, under the real names.
#include <atomic>

namespace libkineto {

class ActivityProfilerProxy {
 public:
  __attribute__((visibility("default"))) virtual ~ActivityProfilerProxy();
  __attribute__((visibility("default"))) virtual bool isActive();
};

class LibkinetoApi {
 public:
  explicit LibkinetoApi(ActivityProfilerProxy* profiler) : profiler_(profiler) {}
  const void* loader_ = nullptr;
  ActivityProfilerProxy* profiler_;
  long more_[8] = {1, 2, 3, 4, 5, 6, 7, 8};
};

namespace {
std::atomic<bool> active{false};
std::atomic<unsigned long> asked{0};
}  // namespace

ActivityProfilerProxy::~ActivityProfilerProxy() = default;
bool ActivityProfilerProxy::isActive() {
  ++asked;
  return active;
}

__attribute__((visibility("default"))) LibkinetoApi& api() {
  static auto* const the_api = new LibkinetoApi(new ActivityProfilerProxy);
  return *the_api;
}

}  // namespace libkineto

extern "C" {
__attribute__((visibility("default"))) void stand_in_set_active(int active) {
  libkineto::active = active != 0;
}
__attribute__((visibility("default"))) unsigned long stand_in_times_asked() {
  return libkineto::asked;
}
}
