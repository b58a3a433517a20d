#include "tests/end_to_end/background_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace lockstep::end_to_end {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

BackgroundRun::BackgroundRun(const TemporaryFolder& folder, const std::vector<std::string>& argv,
                             const std::vector<std::string>& environment)
    : folder_(folder.path().string()) {
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("fork failed");
  if (process_ > 0) return;
  setpgid(0, 0);  // so that all of it can be ended
  for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(open((folder_ + "/out").c_str(), O_WRONLY | O_CREAT, 0600), 1);
  dup2(open((folder_ + "/err").c_str(), O_WRONLY | O_CREAT, 0600), 2);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

BackgroundRun::~BackgroundRun() {
  if (process_ < 0) return;
  kill(-process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

Outcome BackgroundRun::finish() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0) {
  }
  process_ = -1;
  Outcome outcome;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.standard_output = output();
  outcome.standard_error = error_output();
  return outcome;
}

std::string BackgroundRun::output() const {
  return contents_of(folder_ + "/out");
}
std::string BackgroundRun::error_output() const {
  return contents_of(folder_ + "/err");
}

void sleep_briefly() {
  usleep(20'000);
}

}  // namespace lockstep::end_to_end
