#include "reference_trainer/streams/stream.h"

#include "reference_trainer/instrumentation/annotations.h"

namespace lockstep::trainer {
namespace {

void run_within_range(const StreamWork& work) {
  for (const Event& event : work.after) event.synchronize();
  if (!work.open) return work.run();
  work.open();
  const struct AtEnd {
    ~AtEnd() { annotations::pop(); }
  } at_end;
  work.run();
}

}  // namespace

class HostStream::Completion : public Event::State {
 public:
  void wait() override { synchronize(); }
  void synchronize() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    if (failure_) std::rethrow_exception(failure_);
  }
  bool done() override {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  void complete(const std::exception_ptr& failure) {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
      failure_ = failure;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr failure_;
};

HostStream::HostStream(std::string name) : name_(std::move(name)), thread_([this] { run(); }) {}

HostStream::~HostStream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Event HostStream::enqueue(StreamWork work) {
  auto completion = std::make_shared<Completion>();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(work), completion});
  }
  changed_.notify_one();
  return Event(std::move(completion));
}

void HostStream::run() {
  annotations::name_this_thread(name_.c_str());
  std::exception_ptr failure;
  while (true) {
    Item item;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      item = std::move(queue_.front());
      queue_.pop_front();
    }
    if (!failure) {
      try {
        run_within_range(item.work);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    item.work = {};  // what it holds is given up before anyone who waits goes on
    item.completion->complete(failure);
  }
}

}  // namespace lockstep::trainer
