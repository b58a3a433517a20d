// Work that runs in order beside the thread that issues it. Two kinds, behind one interface, so that the same
// schedule runs on both and overlaps for real:
//
//   on the CPU       a thread with a first-in-first-out queue            HostStream, here
//   on an accelerator  a stream of the device, of whose end an event tells   DeviceStream, device_stream.h
//
//   Event gathered = communication.enqueue({.run = [&] { gather(); }});
//   compute();
//   gathered.wait();
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lockstep::trainer {

// The moment at which one piece of work is done. Copies are the same event.
class Event {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual void wait() = 0;
    virtual void synchronize() = 0;
    virtual bool done() = 0;
  };

  Event() = default;  // of nothing: done
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

  // What the caller issues from here on begins when the work is done: the CPU's work is waited for, by the
  // caller; a device's, by the caller's current stream, and the caller goes on. Throws what the work threw.
  void wait() const {
    if (state_) state_->wait();
  }
  // Blocks the caller until the work is done. Throws as wait() does.
  void synchronize() const {
    if (state_) state_->synchronize();
  }
  bool done() const { return !state_ || state_->done(); }

 private:
  std::shared_ptr<State> state_;
};

struct StreamWork {
  // Does the work, or, on a device, issues it to the current stream.
  std::function<void()> run;
  // Begins when these are done, as does all that is enqueued later.
  std::vector<Event> after = {};
  // On a device: and after what the caller has issued to its own stream so far.
  bool after_caller = true;
  // Pushes the range under which tools see the work (annotations.h), on the thread that runs or follows it;
  // it is popped at the end. Empty: none.
  std::function<void()> open = {};
};

class Stream {
 public:
  virtual ~Stream() = default;
  virtual Event enqueue(StreamWork work) = 0;
  // While the result lives, memory that the caller takes is this stream's, and what it computes runs on it;
  // nothing for streams that are threads.
  virtual std::shared_ptr<void> make_current() { return nullptr; }
  // On a device: all that is enqueued from now on begins after what the caller has issued to its own stream.
  virtual void follow_caller() {}
};

class HostStream : public Stream {
 public:
  // `name` becomes the thread's, for tools (annotations.h).
  explicit HostStream(std::string name);
  // Waits for what is queued.
  ~HostStream() override;
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  // After a piece of work has thrown, all that follow fail with the same exception and don't run: what they
  // would work on is not there.
  Event enqueue(StreamWork work) override;

 private:
  class Completion;
  struct Item {
    StreamWork work;
    std::shared_ptr<Completion> completion;
  };
  void run();

  std::string name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace lockstep::trainer
