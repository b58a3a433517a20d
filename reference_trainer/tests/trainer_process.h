// Runs the built lockstep-train, or any command, from a test.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::trainer {

// A folder of its own for one test, removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

using Environment = std::map<std::string, std::string>;

class TrainerProcess {
 public:
  // Starts lockstep-train with `arguments`. RANK and the like are taken out of the environment, `environment`
  // is added.
  explicit TrainerProcess(const std::vector<std::string>& arguments, const Environment& environment = {});
  ~TrainerProcess();
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  pid_t pid() const { return pid_; }
  // The next line of standard output without its end; false at the end of the output.
  bool read_line(std::string& line);
  // Reads all output, waits; the exit code, or 128 plus the number of the signal that killed it.
  int wait();
  const std::string& output() const { return output_; }
  const std::string& errors() const { return errors_; }

 private:
  bool fill();

  pid_t pid_ = -1;
  int output_pipe_ = -1;
  std::filesystem::path error_file_;
  std::string output_;
  std::size_t read_ = 0;
  std::string errors_;
};

// Process ids of the ranks that the launcher `pid` has started, by rank.
std::map<int, pid_t> ranks_of(pid_t pid);

// Some 20 KB of English-like sentences, always the same.
std::string sample_text();
void write_file(const std::string& path, const std::string& content);

// The lines of a JSON-lines file.
std::vector<nlohmann::json> read_json_lines(const std::string& path);
// Those with "event" equal to `event`.
std::vector<nlohmann::json> events(const std::vector<nlohmann::json>& lines, const std::string& event);

}  // namespace lockstep::trainer
