#include "reference_trainer/streams/device_stream.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

#include "reference_trainer/instrumentation/annotations.h"

namespace lockstep::trainer {
namespace {

using c10::impl::VirtualGuardImpl;

c10::Stream current_stream(c10::Device device) {
  return VirtualGuardImpl(device.type()).getStream(device);
}

class Recorded : public Event::State {
 public:
  explicit Recorded(const c10::Stream& stream) : device_(stream.device()), event_(stream.device_type()) {
    event_.record(stream);
  }
  void wait() override { event_.block(current_stream(device_)); }
  void synchronize() override { event_.synchronize(); }
  bool done() override { return event_.query(); }

 private:
  c10::Device device_;
  c10::Event event_;
};

}  // namespace

Event mark(c10::Device device) {
  return Event(std::make_shared<Recorded>(current_stream(device)));
}

DeviceStream::DeviceStream(c10::Device device, const std::string& name)
    : device_(device),
      stream_(VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, /*isHighPriority=*/true)) {
  if (annotations::tool_attached()) follower_ = std::make_unique<HostStream>(name + " (by events)");
}

std::shared_ptr<void> DeviceStream::make_current() {
  return std::make_shared<c10::StreamGuard>(stream_);
}

void DeviceStream::follow_caller() {
  const Event caller = mark(device_);
  const c10::StreamGuard here(stream_);
  caller.wait();
}

Event DeviceStream::enqueue(StreamWork work) {
  if (work.after_caller) follow_caller();
  const c10::StreamGuard here(stream_);
  for (const Event& event : work.after) event.wait();
  const bool shown = follower_ && work.open;
  if (shown) follower_->enqueue({.run = std::move(work.open), .after = {mark(device_)}});
  work.run();
  const Event end = mark(device_);
  if (shown) follower_->enqueue({.run = annotations::pop, .after = {end}});
  return end;
}

BlockingDeviceStream::BlockingDeviceStream(c10::Device device, std::string name)
    : device_(device),
      stream_(VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device)),
      thread_(std::move(name)) {}

Event BlockingDeviceStream::enqueue(StreamWork work) {
  work.after.push_back(mark(device_));
  work.run = [run = std::move(work.run), stream = stream_] {
    const c10::StreamGuard here(stream);
    run();
    VirtualGuardImpl(stream.device_type()).synchronizeStream(stream);
  };
  return thread_.enqueue(std::move(work));
}

}  // namespace lockstep::trainer
