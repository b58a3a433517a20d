#include "viewer/opening/run_presence.h"

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace lockstep::viewer {

namespace {

using Key = std::pair<std::vector<std::string>, std::string>;

Key key_of(const RecentRun& run) {
  return {run.paths, run.other};
}

}  // namespace

struct RunPresence::Answers {
  struct Answer {
    Presence last = Presence::unknown;
    bool due = false;
  };
  Look look;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> tell;    // empty: nobody is interested any more
  std::map<Key, Answer> of_run;  // only grows: threads keep an answer's place
  std::size_t due = 0;

  // Where the answer belongs; null: it is due already.
  Answer* begin(const RecentRun& run) {
    const std::lock_guard lock(mutex);
    Answer& answer = of_run[key_of(run)];
    if (answer.due) return nullptr;
    answer.due = true;
    ++due;
    return &answer;
  }

  // Throws nothing, as nobody would catch it.
  void ask(const RecentRun& run, Answer& answer) {
    Presence found = Presence::unknown;
    try {
      found = look(run);
    } catch (...) {
      // No memory for a path: nobody knows.
    }
    settle(answer, found);
  }

  void settle(Answer& answer, Presence found) {
    const std::lock_guard lock(mutex);
    answer = {found, false};
    --due;
    changed.notify_all();
    // Under the lock: whoever takes the interest away knows that no call is under way.
    if (tell) tell();
  }
};

RunPresence::RunPresence(std::function<void()> tell, Look look) : answers_(std::make_shared<Answers>()) {
  answers_->tell = std::move(tell);
  answers_->look = std::move(look);
}

RunPresence::~RunPresence() {
  const std::lock_guard lock(answers_->mutex);
  answers_->tell = {};
}

void RunPresence::look(const std::vector<RecentRun>& runs) {
  for (const RecentRun& run : runs) {
    Answers::Answer* const answer = answers_->begin(run);
    if (answer == nullptr) continue;
    try {
      std::thread([answers = answers_, run, answer] { answers->ask(run, *answer); }).detach();
    } catch (const std::exception&) {
      answers_->settle(*answer, Presence::unknown);  // no thread to be had, or no memory
    }
  }
}

Presence RunPresence::of(const RecentRun& run) const {
  const std::lock_guard lock(answers_->mutex);
  const auto found = answers_->of_run.find(key_of(run));
  return found == answers_->of_run.end() ? Presence::unknown : found->second.last;
}

bool RunPresence::wait_for(std::chrono::milliseconds most) const {
  std::unique_lock lock(answers_->mutex);
  return answers_->changed.wait_for(lock, most, [this] { return answers_->due == 0; });
}

}  // namespace lockstep::viewer
