// lockstep_accuracy: counts false accusations of healthy simulated jobs, and planted faults that are found.
// scripts/accuracy runs it and makes docs/accuracy.md of what it writes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/accuracy/cell_table.h"
#include "tests/accuracy/cells.h"
#include "tests/accuracy/kernel_jobs/count.h"
#include "tests/accuracy/rates.h"
#include "tests/accuracy/suite.h"

namespace lockstep::accuracy {
namespace {

struct Options : CellChoice {
  std::string set = "tuning";
  std::string noise_folder = LOCKSTEP_SOURCE_DIR "/tests/accuracy/noise";
  std::uint64_t seed = 1;
  bool resume = false, misses = false;
  int threads = 0;
  std::string output{};
};

nlohmann::json json_of(const CellResult& result) {
  return {{"ranks", result.cell.ranks},
          {"steps", result.cell.steps},
          {"fault", to_string(result.cell.fault)},
          {"effect", result.cell.effect},
          {"noise_level", result.cell.noise_level},
          {"levelled", result.cell.levelled},
          {"jobs", result.jobs},
          {"accused", result.accused},
          {"found", result.found},
          {"cause_named", result.cause_named},
          {"findings", result.findings},
          {"accused_by", result.accused_by},
          {"examples", result.examples},
          {"seconds", result.seconds}};
}

void print(const nlohmann::json& cell) {
  if (cell.at("fault") == "none") {
    fmt::print("{:>4} ranks {:>5} steps: {:>3} of {:>3} accused", cell.at("ranks").get<int>(),
               cell.at("steps").get<int>(), cell.at("accused").get<int>(), cell.at("jobs").get<int>());
  } else {
    const double level = cell.at("noise_level").get<double>();
    fmt::print(
        "{:<9} {:>3.0f} %, noise {:<11} {:>3} ranks {:>4} steps: found {:>3}, cause named {:>3}, "
        "others accused {:>3}, of {:>3}",
        cell.at("fault").get<std::string>(), cell.at("effect").get<double>() * 100,
        level > 0 ? fmt::format("{:.0f} %", level * 100) : "as recorded", cell.at("ranks").get<int>(),
        cell.at("steps").get<int>(), cell.at("found").get<int>(), cell.at("cause_named").get<int>(),
        cell.at("accused").get<int>(), cell.at("jobs").get<int>());
  }
  fmt::print("  ({} s)\n", cell.at("seconds").get<int>());
  for (const auto& example : cell.at("examples")) fmt::print("      {}\n", example.get<std::string>());
  std::fflush(stdout);
}

int count_kinds(const Options& options) {
  const Result<std::vector<KindResult>> results =
      run_kinds(options.jobs > 0 ? options.jobs : 20, options.seed);
  if (!results.ok()) {
    fmt::print(stderr, "lockstep_accuracy: {}\n", results.error().message);
    return 1;
  }
  nlohmann::json document{{"what", "kinds"}, {"seed", options.seed}};
  for (const KindResult& result : results.value()) {
    nlohmann::json cell{
        {"code", result.code}, {"jobs", result.jobs}, {"found", result.found}, {"findings", result.findings}};
    if (!result.evidence.empty()) cell["evidence"] = result.evidence;
    document["cells"].push_back(std::move(cell));
    fmt::print("{:<30} found in {} of {} {}\n", result.code, result.found, result.jobs, result.evidence);
  }
  if (!options.output.empty()) std::ofstream(options.output) << document.dump(1) << '\n';
  return 0;
}

int count_work_cases(const Options& options) {
  const std::int64_t jobs = options.jobs > 0 ? options.jobs : 200;
  const Result<std::vector<WorkResult>> results = count_work(jobs, options.seed);
  if (!results.ok()) {
    fmt::print(stderr, "lockstep_accuracy: {}\n", results.error().message);
    return 1;
  }
  nlohmann::json document{{"what", "work"}, {"seed", options.seed}};
  for (const WorkResult& result : results.value()) {
    document["cells"].push_back({{"planted", result.planted.what},
                                 {"work", to_string(result.planted.work)},
                                 {"hidden", result.planted.is_hidden},
                                 {"ranks", result.planted.ranks},
                                 {"late", result.planted.late},
                                 {"jobs", result.jobs},
                                 {"right", result.right},
                                 {"false_work", result.false_work},
                                 {"wrongly_accused", result.wrongly_accused},
                                 {"examples", result.examples}});
    fmt::print("{:>2} ranks, {:<80} right {:>3}, work said falsely {:>3}, others accused {:>3}, of {:>3}\n",
               result.planted.ranks, result.planted.what, result.right, result.false_work,
               result.wrongly_accused, result.jobs);
    for (const std::string& example : result.examples) fmt::print("          {}\n", example);
    if (options.misses)
      for (const std::string& miss : result.misses) fmt::print("          missed: {}\n", miss);
  }
  if (!options.output.empty()) std::ofstream(options.output) << document.dump(1) << '\n';
  return 0;
}

int run(const Options& options) {
  if (options.what == "kinds") return count_kinds(options);
  if (options.what == "work") return count_work_cases(options);
  Result<std::vector<NoiseRecording>> noise =
      read_noise_folder(std::filesystem::path(options.noise_folder) / options.set);
  if (!noise.ok()) {
    fmt::print(stderr, "lockstep_accuracy: {}\n", noise.error().message);
    return 1;
  }
  CellTable table(options.what, options.set, options.seed);
  for (const NoiseRecording& recording : noise.value()) {
    table.describe_noise({{"name", recording.name},
                          {"description", recording.description},
                          {"ranks", recording.rows.size()},
                          {"steps", recording.rows.front().size()},
                          {"level", recording.level}});
    fmt::print(
        "noise {}: {} ranks × {} steps, a rank's own time varies by {:.1f} % (standard deviation): {}\n",
        recording.name, recording.rows.size(), recording.rows.front().size(), recording.level * 100,
        recording.description);
  }
  if (options.resume && !options.output.empty()) table.resume(options.output);
  for (const Cell& cell : cells_of(options)) {
    nlohmann::json row = json_of({cell, 0, 0, 0, 0, {}, {}, {}, {}, 0});
    const nlohmann::json* const known = table.find(row);
    if (known != nullptr && known->at("jobs") >= cell.jobs) {
      row = *known;
    } else {
      const Result<CellResult> result = run_cell(cell, options.seed, noise.value(), options.threads);
      if (!result.ok()) {
        fmt::print(stderr, "lockstep_accuracy: {}\n", result.error().message);
        return 1;
      }
      row = json_of(result.value());
      if (options.misses)
        for (const std::string& miss : result.value().misses) fmt::print("      missed: {}\n", miss);
    }
    print(row);
    table.put(row);
    if (!options.output.empty() && !table.write(options.output)) {
      fmt::print(stderr, "lockstep_accuracy: could not write --output {}\n", options.output);
      return 1;
    }
  }
  if (table.jobs() > 0 && options.what == "null")
    fmt::print("all: {} of {} accused, {:.2f} % (95 % upper bound {:.2f} %)\n", table.accused(), table.jobs(),
               100.0 * static_cast<double>(table.accused()) / static_cast<double>(table.jobs()),
               100 * upper_bound(table.accused(), table.jobs()));
  return 0;
}

}  // namespace
}  // namespace lockstep::accuracy

int main(int argc, char** argv) {
  using namespace lockstep::accuracy;
  Options options;
  CLI::App app{"How often Lockstep's findings are right, on simulated jobs with the noise of real ones."};
  app.add_option(
         "what", options.what,
         "null: healthy jobs; planted: with a fault each; kinds: a case of each kind of finding; work: "
         "ranks with more to compute, and slow ones with the same")
      ->check(CLI::IsMember({"null", "planted", "kinds", "work"}));
  app.add_option("--set", options.set, "which recordings of noise: tuning, or those that no tuning used")
      ->check(CLI::IsMember({"tuning", "held_out"}));
  app.add_option("--seed", options.seed, "of the simulation");
  app.add_option("--jobs", options.jobs, "of each cell (default: few where they are cheap; 500 with --full)");
  app.add_option("--ranks", options.ranks, "these numbers of ranks alone")->delimiter(',');
  app.add_option("--steps", options.steps, "these numbers of steps alone")->delimiter(',');
  app.add_option("--faults", options.faults,
                 "compute, loader, host, link, periodic, growing, changing, midway")
      ->delimiter(',');
  app.add_option("--effects", options.effects, "shares of a step: 0.05")->delimiter(',');
  app.add_option("--levels", options.levels, "of noise, shares of a step; 0: as recorded")->delimiter(',');
  app.add_option("--noise", options.noise_folder, "folder with tuning/ and held_out/");
  app.add_flag("--full", options.full, "the whole table");
  app.add_flag("--resume", options.resume, "keep the cells that --output already holds (same set and seed)");
  app.add_flag("--as-drawn", options.as_drawn,
               "noise that is not level over a job: a rank drawn from a slow stretch is slow");
  app.add_flag("--misses", options.misses,
               "print each planted fault that was not found, or not by its cause");
  app.add_option("--threads", options.threads, "jobs at a time (default: one a core)");
  app.add_option("-o,--output", options.output, "a JSON file to write, cell by cell");
  CLI11_PARSE(app, argc, argv);
  if (options.threads <= 0)
    options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return run(options);
}
