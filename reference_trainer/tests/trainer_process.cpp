#include "reference_trainer/tests/trainer_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace lockstep::trainer {
namespace fs = std::filesystem;
namespace {

const std::string kBinary = LOCKSTEP_BIN_DIR "/lockstep-train";

fs::path unique_path(const char* what) {
  static int counter = 0;
  return fs::temp_directory_path() / ("lockstep-train-" + std::string(what) + "-" + std::to_string(getpid()) +
                                      "-" + std::to_string(counter++));
}

bool describes_placement(const std::string& variable) {
  for (const char* name : {"RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "MASTER_ADDR=", "MASTER_PORT=",
                           "TORCHELASTIC_", "NVTX_INJECTION64_PATH=", "GLOO_SOCKET_IFNAME="}) {
    if (variable.starts_with(name)) return true;
  }
  return false;
}

std::vector<std::string> environment_with(const Environment& added) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!describes_placement(*variable)) all.emplace_back(*variable);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string read_all(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

}  // namespace

TemporaryFolder::TemporaryFolder() : path_(unique_path("test")) {
  fs::create_directories(path_);
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

TrainerProcess::TrainerProcess(const std::vector<std::string>& arguments, const Environment& environment)
    : error_file_(unique_path("stderr")) {
  std::vector<std::string> command = arguments;
  command.insert(command.begin(), kBinary);
  std::vector<std::string> variables = environment_with(environment);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error_file_.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int error = posix_spawn(&pid_, kBinary.c_str(), &actions, nullptr, pointers_to(command).data(),
                                pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  output_pipe_ = pipe_ends[0];
  if (error != 0) throw std::runtime_error("cannot start " + kBinary);
}

TrainerProcess::~TrainerProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(output_pipe_);
  std::error_code ignored;
  fs::remove(error_file_, ignored);
}

bool TrainerProcess::fill() {
  std::array<char, 4096> buffer{};
  const ssize_t count = read(output_pipe_, buffer.data(), buffer.size());
  if (count <= 0) return false;
  output_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

bool TrainerProcess::read_line(std::string& line) {
  while (output_.find('\n', read_) == std::string::npos) {
    if (!fill()) return false;
  }
  const std::size_t end = output_.find('\n', read_);
  line = output_.substr(read_, end - read_);
  read_ = end + 1;
  return true;
}

int TrainerProcess::wait() {
  while (fill()) {
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  errors_ = read_all(error_file_);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::map<int, pid_t> ranks_of(pid_t pid) {
  std::map<int, pid_t> ranks;
  std::istringstream children(
      read_all("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children"));
  for (pid_t child = 0; children >> child;) {
    std::istringstream variables(read_all("/proc/" + std::to_string(child) + "/environ"));
    for (std::string variable; std::getline(variables, variable, '\0');) {
      if (variable.starts_with("RANK=")) ranks[std::stoi(variable.substr(5))] = child;
    }
  }
  return ranks;
}

std::string sample_text() {
  constexpr std::array words{"the",    "rank", "waits", "for",   "gradient", "and",  "bucket", "while",
                             "step",   "of",   "a",     "late",  "group",    "sums", "in",     "memory",
                             "before", "it",   "sends", "bytes", "ring",     "with", "every",  "node"};
  std::mt19937_64 random(42);
  std::string text;
  while (text.size() < 20'000) {
    const std::size_t length = 4 + random() % 8;
    for (std::size_t i = 0; i < length; ++i)
      text += std::string(i == 0 ? "" : " ") + words[random() % words.size()];
    text += ".\n";
  }
  return text;
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::vector<nlohmann::json> read_json_lines(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::vector<nlohmann::json> events(const std::vector<nlohmann::json>& lines, const std::string& event) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json& line : lines) {
    if (line.at("event") == event) found.push_back(line);
  }
  return found;
}

}  // namespace lockstep::trainer
