// One thread of another process, held as a disk that does not answer would hold it: the others run on.
#pragma once

#include <sys/types.h>

#include <string>

namespace lockstep::end_to_end {

class StalledThread {
 public:
  // The thread of that name.
  StalledThread(pid_t process, const std::string& name);
  ~StalledThread();
  StalledThread(const StalledThread&) = delete;
  StalledThread& operator=(const StalledThread&) = delete;

  // Only an ancestor may do this, and not on every machine.
  bool is_allowed() const { return thread_ > 0; }
  // Stops the thread where it sleeps; false if it never did.
  bool stop_in_sleep();
  // Lets it run until it is about to write, and no further. False if it never wrote.
  bool stop_at_write();
  void release();
  // Waits until the thread is gone with its process, which can't be waited for by its parent before.
  bool await_end();

 private:
  bool await_stop();

  pid_t process_;
  pid_t thread_ = -1;
};

// 0 if there is none.
pid_t find_thread(pid_t process, const std::string& name);

}  // namespace lockstep::end_to_end
