// Runs the simulated half of the accuracy table: cells of many jobs each, whole through analyze().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "base/result.h"
#include "tests/accuracy/noise.h"
#include "tests/accuracy/simulate.h"

namespace lockstep::accuracy {

struct Cell {
  std::int32_t ranks = 2;
  int steps = 50;
  Fault fault = Fault::none;
  double effect = 0;
  double noise_level = 0;  // 0: as recorded
  std::int64_t jobs = 0;
  bool levelled = true;  // RankNoise
};

struct CellResult {
  Cell cell;
  std::int64_t jobs = 0;
  std::int64_t accused =
      0;  // jobs of which a rank or a link was accused; of a planted fault: another than the slow one
  std::int64_t found = 0, cause_named = 0;
  std::map<std::string, std::int64_t> findings;    // code -> jobs that have it
  std::map<std::string, std::int64_t> accused_by;  // platform, or code of the accusing finding -> jobs
  std::vector<std::string> examples;  // the first accusations, with the job that shows them again
  std::vector<std::string> misses;    // planted faults not found, or their cause not named
  std::int64_t seconds = 0;
};

// Job `index` of a cell is the same whatever else runs. Healthy jobs take turns: GPU-like and CPU-like, as
// recorded and with the noise brought to 2 % (Cell::noise_level 0); recordings take turns as well.
Plan plan_of(const Cell& cell, std::int64_t index, std::uint64_t seed,
             const std::vector<NoiseRecording>& noise, std::size_t& recording);

// One kind of finding, planted `jobs` times (cases.h).
struct KindResult {
  std::string code;
  std::string evidence;  // KindCase's
  std::int64_t jobs = 0;
  std::int64_t found = 0;
  std::map<std::string, std::int64_t> findings;  // code -> jobs that have it
};
// Sees each report, for tests. Of several threads one at a time.
using LookAtReport = std::function<void(const analyzer::Report&)>;
Result<std::vector<KindResult>> run_kinds(std::int64_t jobs, std::uint64_t seed,
                                          const LookAtReport& look = {});

// `threads` jobs at a time. Error: analyze() refused a job.
Result<CellResult> run_cell(const Cell& cell, std::uint64_t seed, const std::vector<NoiseRecording>& noise,
                            int threads, const LookAtReport& look = {});

}  // namespace lockstep::accuracy
