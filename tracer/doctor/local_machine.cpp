#include "tracer/doctor/local_machine.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tracer/doctor/subprocess.h"

namespace lockstep::tracer::doctor {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxRead = std::size_t{64} << 10U;
constexpr std::uint32_t kLoadMilliseconds = 20'000;  // cuInit on a node with many GPUs takes seconds
constexpr std::uint32_t kWriteMilliseconds = 10'000;

std::string existing_folder(const std::string& path) {
  std::error_code error;
  fs::path folder = fs::absolute(path.empty() ? "." : path, error);
  while (!fs::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder.string();
}

// In the child: loads the library and makes the calls. JSON carries the answer home.
std::string load_and_call(const std::string& library, const std::vector<Call>& calls) {
  // The probe must not start a tool.
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LOCKSTEP_RUN"}) unsetenv(name);
  json answer;
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return json{{"problem", why != nullptr ? why : "unknown"}}.dump(-1, ' ', false,
                                                                    json::error_handler_t::replace);
  }
  answer["results"] = json::array();
  void* address = nullptr;
  for (const Call& call : calls) {
    json result;
    if (void* const function = dlsym(handle, call.function.c_str()); function != nullptr) {
      address = function;
      int value = 0;
      result["code"] = call.kind == Call::Kind::fills_int ? reinterpret_cast<int (*)(int*)>(function)(&value)
                                                          : reinterpret_cast<int (*)(unsigned)>(function)(0);
      result["value"] = value;
    }
    answer["results"].push_back(result);
  }
  std::array<char, 4096> origin{};
  Dl_info info{};
  if (address != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr) {
    answer["path"] = info.dli_fname;
  } else if (dlinfo(handle, RTLD_DI_ORIGIN, origin.data()) == 0) {
    answer["path"] = std::string(origin.data()) + "/" + fs::path(library).filename().string();
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string write_for_a_second(const std::string& folder) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kBlock = std::size_t{1} << 20U;
  constexpr int kBlocks = 64;
  std::string name = folder + "/.lockstep-doctor-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return json{{"problem", strerror(errno)}}.dump();
  unlink(name.c_str());
  std::string block(kBlock, '\0');
  std::uint32_t noise = 1;  // a file system that compresses must not win
  for (char& byte : block) byte = static_cast<char>((noise = noise * 1664525U + 1013904223U) >> 24U);
  const Clock::time_point start = Clock::now();
  std::uint64_t bytes = 0;
  for (int i = 0; i < kBlocks && Clock::now() - start < std::chrono::seconds(1); ++i) {
    const ssize_t written = write(file, block.data(), block.size());
    if (written <= 0) return json{{"problem", strerror(written < 0 ? errno : ENOSPC)}}.dump();
    bytes += static_cast<std::uint64_t>(written);
  }
  fdatasync(file);
  const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  return json{{"bytes", bytes}, {"nanoseconds", took}}.dump();
}

}  // namespace

std::optional<std::string> LocalMachine::variable(const std::string& name) const {
  const char* const value = getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<std::string> LocalMachine::variable_names() const {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    names.emplace_back(text.substr(0, text.find('=')));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> LocalMachine::read(const std::string& path) const {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not hold us up
  if (file < 0) return std::nullopt;
  std::string text(kMaxRead, '\0');
  std::size_t done = 0;
  ssize_t length = 0;
  while (done < text.size() && (length = ::read(file, text.data() + done, text.size() - done)) > 0) {
    done += static_cast<std::size_t>(length);
  }
  close(file);
  if (length < 0 && done == 0) return std::nullopt;
  text.resize(done);
  return text;
}

std::vector<std::string> LocalMachine::list(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool LocalMachine::is_executable(const std::string& path) const {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string LocalMachine::real_path(const std::string& path) const {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

std::optional<ElfFacts> LocalMachine::inspect(const std::string& path) const {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::optional<ElfFacts> facts =
      inspect_elf([file](std::uint64_t offset, char* out, std::size_t size) -> std::size_t {
        const ssize_t length = pread(file, out, size, static_cast<off_t>(offset));
        return length > 0 ? static_cast<std::size_t>(length) : 0;
      });
  close(file);
  return facts;
}

LibraryFacts LocalMachine::load(const std::string& library, const std::vector<Call>& calls) const {
  LibraryFacts facts;
  const ChildAnswer child = ask_child([&] { return load_and_call(library, calls); }, kLoadMilliseconds);
  const json answer = json::parse(child.answer, nullptr, false);
  if (!child.finished || !answer.is_object()) {
    facts.problem = "loading it " + child.problem;
    return facts;
  }
  facts.problem = answer.value("problem", "");
  facts.path = answer.value("path", "");
  facts.loads = facts.problem.empty();
  for (const json& result : answer.value("results", json::array())) {
    const bool found = result.contains("code");
    facts.results.push_back(
        {found, found ? result.value("code", 0) : 0, found ? result.value("value", 0) : 0});
  }
  return facts;
}

CommandResult LocalMachine::run(const std::vector<std::string>& argv, std::uint32_t milliseconds) const {
  return run_command(argv, milliseconds);
}

std::optional<FileSystemFacts> LocalMachine::file_system(const std::string& path) const {
  struct statfs status {};
  if (statfs(existing_folder(path).c_str(), &status) != 0) return std::nullopt;
  const auto block = static_cast<std::uint64_t>(status.f_bsize);
  return FileSystemFacts{static_cast<std::uint64_t>(status.f_type) & 0xFFFFFFFFU, status.f_bavail * block,
                         status.f_blocks * block};
}

WriteRate LocalMachine::measure_writing(const std::string& path) const {
  const std::string folder = existing_folder(path);
  const ChildAnswer child = ask_child([&] { return write_for_a_second(folder); }, kWriteMilliseconds);
  const json answer = json::parse(child.answer, nullptr, false);
  WriteRate rate;
  if (!child.finished || !answer.is_object()) {
    rate.problem = "writing " + child.problem;
    return rate;
  }
  rate.problem = answer.value("problem", "");
  rate.bytes = answer.value("bytes", std::uint64_t{0});
  rate.nanoseconds = answer.value("nanoseconds", std::int64_t{0});
  return rate;
}

bool LocalMachine::is_root() const {
  return geteuid() == 0;
}

std::uint32_t LocalMachine::processors() const {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::uint32_t>(CPU_COUNT(&set));
  return static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace lockstep::tracer::doctor
