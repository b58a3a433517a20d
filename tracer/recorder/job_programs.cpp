#include "tracer/recorder/job_programs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include "base/numbers.h"
#include "base/small_file.h"
#include "tracer/doctor/elf.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;

// A machine may have any number of processes: the time of a look is bounded.
constexpr std::size_t kMostProcesses = 20'000;
constexpr std::size_t kMostFound = 10'000;
constexpr std::size_t kMostExecutables = 4096;
constexpr int kLooksAtEach = 2;
constexpr int kDeepest = 1000;

struct ParentAndStart {
  pid_t parent = 0;
  std::uint64_t start = 0;  // in ticks since the machine's
};

// "PID (NAME) STATE PARENT … START …", the 4th and the 22nd word; a name may hold anything.
std::optional<ParentAndStart> read_stat(const std::string& process_folder) {
  const std::string text = read_small_file(process_folder + "/stat");
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(text.substr(name_end + 2));
  std::string word;
  ParentAndStart read;
  if (!(words >> word >> read.parent)) return std::nullopt;
  for (int skipped = 5; skipped < 22; ++skipped) words >> word;
  if (!(words >> read.start)) return std::nullopt;
  return read;
}

std::optional<doctor::ElfFacts> inspect(const std::string& path) {
  const int file = open_regular_file(path);
  if (file < 0) return std::nullopt;
  auto facts = doctor::inspect_elf([file](std::uint64_t offset, char* out, std::size_t size) -> std::size_t {
    const ssize_t count = pread(file, out, size, static_cast<off_t>(offset));
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  });
  close(file);
  return facts;
}

}  // namespace

JobPrograms::JobPrograms(pid_t root, std::string proc) : root_(root), proc_(std::move(proc)) {
  struct stat network {};
  if (stat((proc_ + "/self/ns/net").c_str(), &network) == 0) own_network_ = {network.st_dev, network.st_ino};
}

void JobPrograms::look() {
  for (auto& [process, known] : known_) known.listed = false;
  std::error_code error;
  for (fs::directory_iterator entry(proc_, error), end; !error && entry != end; entry.increment(error)) {
    const auto process = parse_number<std::int32_t>(entry->path().filename().string(), 1);
    if (!process.has_value()) continue;
    if (const auto found = known_.find(*process); found != known_.end()) {
      found->second.listed = true;
    } else if (known_.size() < kMostProcesses) {
      if (const auto read = read_stat(entry->path().string()))
        known_[*process] = Known{read->parent, read->start};
    }
  }
  std::erase_if(known_, [](const auto& known) { return !known.second.listed; });
  for (auto& [process, known] : known_) {
    if (known.looks >= kLooksAtEach || !is_of_job(process)) continue;
    ++known.looks;
    examine(process, known);
  }
}

bool JobPrograms::is_of_job(pid_t process) const {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto known = known_.find(process);
    if (known == known_.end()) return false;
    process = known->second.parent;
    if (process == root_) return true;
  }
  return false;
}

void JobPrograms::examine(pid_t process, Known& known) {
  if (known.told || found_.size() >= kMostFound) return;
  const std::string folder = proc_ + "/" + std::to_string(process);
  const std::string executable = folder + "/exe";
  struct stat file {
  }, network{}, owner{};
  if (stat(executable.c_str(), &file) != 0 || stat(folder.c_str(), &owner) != 0) return;
  std::string reason = why_not_entered(executable, {file.st_dev, file.st_ino});
  if (reason.empty() && own_network_ != File{} && stat((folder + "/ns/net").c_str(), &network) == 0 &&
      File{network.st_dev, network.st_ino} != own_network_)
    reason = kOtherNetwork;
  if (reason.empty()) return;
  // Only of the process that was seen to be the job's: its number may be another's by now.
  const auto now = read_stat(folder);
  if (!now.has_value() || now->start != known.start) return;
  std::error_code error;
  const fs::path program = fs::read_symlink(executable, error);
  found_.push_back({process, owner.st_uid, error ? std::string() : program.string(), reason});
  known.told = true;
}

std::string JobPrograms::why_not_entered(const std::string& executable, const File& file) {
  if (const auto known = reasons_.find(file); known != reasons_.end()) return known->second;
  const std::optional<doctor::ElfFacts> facts = inspect(executable);
  std::string reason = facts.has_value() ? doctor::why_not_entered(*facts) : std::string();
  if (reasons_.size() < kMostExecutables) reasons_[file] = reason;
  return reason;
}

}  // namespace lockstep::tracer::record
