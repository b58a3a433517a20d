// Work that runs in order beside the thread that issues it: what a CUDA stream and its events are to a host.
// On the CPU a stream is a thread with a first-in-first-out queue, so that the same schedule runs on both and
// overlaps for real.
//
//   Stream communication("all-gather");
//   Event gathered = communication.enqueue([&] { gather(); });
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

namespace lockstep::trainer {

// The moment at which one piece of work is done. Copies are the same event.
class Event {
 public:
  Event() = default;  // of nothing: done
  // Blocks until the work is done. Throws what the work threw.
  void wait() const;
  bool done() const;

 private:
  friend class Stream;
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::exception_ptr failure;
  };
  std::shared_ptr<State> state_;
};

class Stream {
 public:
  // `name` becomes the thread's, for tools (annotations.h).
  explicit Stream(std::string name);
  // Waits for what is queued.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // After a piece of work has thrown, all that follow fail with the same exception and don't run: what they
  // would work on is not there.
  Event enqueue(std::function<void()> work);

 private:
  struct Item {
    std::function<void()> work;
    std::shared_ptr<Event::State> state;
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
