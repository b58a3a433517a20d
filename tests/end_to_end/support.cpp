#include "tests/end_to_end/support.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "tests/end_to_end/report_sums.h"
#include "tests/sanitizers.h"

namespace lockstep::end_to_end {
namespace {

// Of what the command printed, and of the file that `--json FILE` names.
void check_reports(const std::vector<std::string>& argv, const Outcome& outcome) {
  if (outcome.exit_code != 0) return;
  require_exact_sums(outcome.standard_output);
  const auto option = std::find(argv.begin(), argv.end(), "--json");
  if (argv.end() - option < 2 || !std::filesystem::is_regular_file(option[1])) return;
  require_exact_sums(test::read_whole_file(option[1]));
}

}  // namespace

Outcome run(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  // Into files, not pipes: no reader can be too slow, and a grandchild that keeps a descriptor holds nobody
  // up.
  TemporaryFolder folder;
  const std::string output = folder / "out";
  const std::string error = folder / "err";
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(output.c_str(), O_WRONLY | O_CREAT, 0600);
    const int err = open(error.c_str(), O_WRONLY | O_CREAT, 0600);
    if (in < 0 || out < 0 || err < 0) _exit(125);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  Outcome outcome;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.standard_output = test::read_whole_file(output);
  outcome.standard_error = test::read_whole_file(error);
  check_reports(argv, outcome);
  return outcome;
}

std::vector<std::string> sanitizer_for_others() {
  const std::string runtime = LOCKSTEP_SANITIZER_RUNTIME;
  if (runtime.empty()) return {};
  // The sanitizer looks for what throws C++ exceptions when it starts: Python alone brings none.
  return {"LD_PRELOAD=" + runtime + ":libstdc++.so.6", "ASAN_OPTIONS=detect_leaks=0",
          "TSAN_OPTIONS=die_after_fork=0:ignore_noninstrumented_modules=1:suppressions=" LOCKSTEP_SOURCE_DIR
          "/tests/thread_sanitizer.supp"};
}

std::string why_no_torch_here() {
  if (!kThreadSanitized) return {};
  return "ThreadSanitizer takes what libtorch's own threads do, which is not instrumented, for races";
}

std::string binary(const std::string& name) {
  return std::string(LOCKSTEP_BIN_DIR) + "/" + name;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

namespace {

bool is_free(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool bound = bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(listener);
  return bound;
}

}  // namespace

// Below those that the system gives to connections (32768 and up, by default), which tests beside this one
// make by the dozen: until a job has imported torch and listens, seconds go by. Where processes of tests
// begin to look lies apart.
int free_port() {
  constexpr int kFirst = 20'000, kCount = 12'000, kApart = 37;
  static int next = static_cast<int>(getpid()) * kApart % kCount;
  for (int tried = 0; tried < kCount; ++tried) {
    const int port = kFirst + next;
    next = (next + 1) % kCount;
    if (is_free(port)) return port;
  }
  throw std::runtime_error("no free port");
}

}  // namespace lockstep::end_to_end
