// A machine that says what a test wants it to say.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "tracer/doctor/checks.h"
#include "tracer/doctor/machine.h"

namespace lockstep::tracer::doctor {

class FakeMachine final : public Machine {
 public:
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;
  std::set<std::string> executables;
  std::map<std::string, std::string> links;
  std::map<std::string, ElfFacts> elf;
  std::map<std::string, LibraryFacts> libraries;  // the loader knows no others
  CommandResult answer;                           // of every command
  std::optional<FileSystemFacts> disk = FileSystemFacts{0xEF53, 500'000'000'000, 900'000'000'000};
  std::optional<FileSystemFacts> shared_memory = FileSystemFacts{0x01021994, 8'000'000'000, 16'000'000'000};
  WriteRate rate{64U << 20U, 100'000'000, ""};
  bool root = false;
  std::uint32_t cpus = 8;
  mutable std::vector<std::string> last_command;

  std::optional<std::string> variable(const std::string& name) const override { return get(variables, name); }
  std::vector<std::string> variable_names() const override {
    std::vector<std::string> names;
    for (const auto& [name, value] : variables) names.push_back(name);
    return names;
  }
  std::optional<std::string> read(const std::string& path) const override { return get(files, path); }
  std::vector<std::string> list(const std::string& folder) const override {
    std::set<std::string> names;
    const std::string prefix = folder + "/";
    for (const auto& [path, text] : files) {
      if (path.starts_with(prefix)) {
        names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
      }
    }
    return {names.begin(), names.end()};
  }
  bool is_executable(const std::string& path) const override { return executables.contains(path); }
  std::string real_path(const std::string& path) const override { return get(links, path).value_or(path); }
  std::optional<ElfFacts> inspect(const std::string& path) const override { return get(elf, path); }
  LibraryFacts load(const std::string& library, const std::vector<Call>&) const override {
    LibraryFacts absent;
    absent.problem = library + ": cannot open shared object file: No such file or directory";
    return get(libraries, library).value_or(absent);
  }
  CommandResult run(const std::vector<std::string>& argv, std::uint32_t) const override {
    last_command = argv;
    return answer;
  }
  std::optional<FileSystemFacts> file_system(const std::string& path) const override {
    return path == "/dev/shm" ? shared_memory : disk;
  }
  WriteRate measure_writing(const std::string&) const override { return rate; }
  bool is_root() const override { return root; }
  std::uint32_t processors() const override { return cpus; }

  // A library that loads from `path`, whose calls give these codes and values.
  void add_library(const std::string& name, const std::string& path, std::vector<CallResult> results) {
    libraries[name] = LibraryFacts{true, path, "", std::move(results)};
  }

 private:
  template <class Value>
  static std::optional<Value> get(const std::map<std::string, Value>& map, const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional<Value>(found->second);
  }
};

// What one check finds.
template <class CheckFunction>
Checks look(CheckFunction check, const Situation& situation, Checks before = {}) {
  const std::size_t skipped = before.size();
  check(situation, before);
  before.erase(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(skipped));
  return before;
}
template <class CheckFunction>
Checks look(CheckFunction check, const FakeMachine& machine, PythonFacts python = {}) {
  Situation situation{machine};
  situation.python = std::move(python);
  return look(check, situation);
}

}  // namespace lockstep::tracer::doctor
