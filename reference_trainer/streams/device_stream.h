// Streams of an accelerator, through c10's device-independent interface: they know CUDA when libtorch_cuda is
// loaded (device/cuda.h), and a stand-in in tests.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <memory>
#include <string>

#include "reference_trainer/streams/stream.h"

namespace lockstep::trainer {

// The moment at which what the calling thread has issued to its current stream of `device` is done.
Event mark(c10::Device device);

// A stream of the device. enqueue() runs the work at once, on the calling thread, with this stream as the
// current one.
//
// Where a tool is attached, a thread named as the stream, and "(by events)", follows it by its events and
// shows each piece of work while it runs: late by the time that a thread needs to wake. Who reads a trace
// that has the device's own activities leaves out what such a thread shows.
class DeviceStream : public Stream {
 public:
  DeviceStream(c10::Device device, const std::string& name);

  Event enqueue(StreamWork work) override;
  std::shared_ptr<void> make_current() override;
  void follow_caller() override;

 private:
  c10::Device device_;
  c10::Stream stream_;
  std::unique_ptr<HostStream> follower_;  // null: no tool
};

// Work for a device that blocks the host, as transports do that know the host's memory alone: it has a
// thread, and a stream of the device. Always after what its caller has issued; done when all of it is.
class BlockingDeviceStream : public Stream {
 public:
  BlockingDeviceStream(c10::Device device, std::string name);
  Event enqueue(StreamWork work) override;

 private:
  c10::Device device_;
  c10::Stream stream_;
  HostStream thread_;
};

}  // namespace lockstep::trainer
