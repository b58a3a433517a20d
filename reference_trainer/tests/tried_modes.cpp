#include "reference_trainer/tests/tried_modes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>

#include "reference_trainer/modes/ddp/mode.h"
#include "reference_trainer/modes/modes.h"

namespace lockstep::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<json> read_all() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(LOCKSTEP_SOURCE_DIR "/reference_trainer/modes"))
    if (const fs::path file = entry.path() / "tried.json"; fs::exists(file)) files.push_back(file);
  std::sort(files.begin(), files.end());
  std::vector<json> all;
  for (const fs::path& file : files) all.push_back(json::parse(std::ifstream(file)));
  return all;
}

const std::vector<json>& all_tried() {
  static const std::vector<json> all = read_all();
  return all;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

void PrintTo(const TriedMode& mode, std::ostream* out) {
  *out << mode.name;
}

void PrintTo(const TriedJob& job, std::ostream* out) {
  *out << job.name << ':';
  for (const std::string& flag : job.flags) *out << ' ' << flag;
}

std::vector<TriedMode> tried_modes() {
  std::vector<TriedMode> modes;
  for (const Mode* const mode : all_modes()) {
    if (mode == &Single::mode) continue;  // what the others are held against
    TriedMode tried{.name = mode->name};
    for (const json& file : all_tried()) {
      const json of_mode = file.at("modes").value(tried.name, json::object());
      if (of_mode.contains("flags")) tried.flags = words(of_mode.at("flags"));
      if (of_mode.value("killed_while_recorded", false)) tried.killed_while_recorded = true;
    }
    modes.push_back(tried);
  }
  return modes;
}

std::vector<TriedJob> tried_jobs(const std::string& test) {
  std::vector<TriedJob> jobs;
  for (const json& file : all_tried()) {
    for (const json& one : file.value(test, json::array())) {
      TriedJob job;
      job.name = one.value("name", job.name);
      job.ranks = one.value("ranks", job.ranks);
      job.layers = one.value("layers", job.layers);
      job.flags = words(one.at("flags"));
      job.zero_optimization = one.value("zero_optimization", json());
      job.in_order = one.value("in_order", job.in_order);
      jobs.push_back(job);
    }
  }
  return jobs;
}

}  // namespace lockstep::trainer
