#include "reference_trainer/streams/stream.h"

#include <utility>

#include "reference_trainer/instrumentation/annotations.h"

namespace lockstep::trainer {

void Event::wait() const {
  if (state_ == nullptr) return;
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->done; });
  if (state_->failure) std::rethrow_exception(state_->failure);
}

bool Event::done() const {
  if (state_ == nullptr) return true;
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

Stream::Stream(std::string name) : name_(std::move(name)), thread_([this] { run(); }) {}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Event Stream::enqueue(std::function<void()> work) {
  Event event;
  event.state_ = std::make_shared<Event::State>();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(work), event.state_});
  }
  changed_.notify_one();
  return event;
}

void Stream::run() {
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
        item.work();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    item.work = nullptr;  // what it holds is given up before anyone who waits goes on
    {
      const std::lock_guard lock(item.state->mutex);
      item.state->done = true;
      item.state->failure = failure;
    }
    item.state->changed.notify_all();
  }
}

}  // namespace lockstep::trainer
