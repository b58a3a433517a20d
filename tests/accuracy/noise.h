// How much real ranks vary: rank × step times of healthy recorded runs (noise/tuning, noise/held_out), and
// how a simulated rank draws its own from them. A block bootstrap: a rank's sequence is made of blocks of
// consecutive steps of rows of one recording, so that autocorrelation, drift and bursts within a block stay
// as recorded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::accuracy {

// One rank's step, in units of the median own time of a step of its row: its own time is compute + loading +
// other (the step's window without waiting for others and without transfer). Waits of other ranks are not in
// it.
struct StepNoise {
  double compute = 0;
  double loading = 0;
  double other = 0;
  double transfer =
      0;  // in units of the recording's median transfer of a step; 1 where nothing is transferred
  double own() const { return compute + loading + other; }
};

struct NoiseRecording {
  std::string name;         // the file's, without its ending
  std::string description;  // its first comment: program, ranks, date, machine
  // By recorded rank, then step. Each row is relative to its own median: what a recorded rank is slower
  // throughout does not become a slow rank, what it does for a while does.
  std::vector<std::vector<StepNoise>> rows;
  // Medians of the columns over all rows, of which own() is made 1: what scaled noise is around. One for all
  // ranks, so that a rank that loads longer and computes less throughout gets like the others as noise gets
  // less.
  StepNoise typical;
  double level = 0;  // standard deviation of own(), over all rows
};

inline constexpr std::size_t kBlockSteps = 50;  // of consecutive steps that are drawn together

// Lines `rank,step,compute_ns,loading_ns,other_ns,transfer_ns` behind comments (#) and that header; every
// rank has the same number of steps, kBlockSteps at least. Errors name file and line.
Result<NoiseRecording> read_noise(const std::filesystem::path& file);
// All *.csv of a folder, sorted by name. Error: none there, or one that cannot be read.
Result<std::vector<NoiseRecording>> read_noise_folder(const std::filesystem::path& folder);

// What a simulated run is made of: small and the same everywhere (SplitMix64, Steele et al. 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // Of job `index` of many. (Seeds that lie apart by SplitMix64's own stride would be one stream, shifted.)
  static Random of_job(std::uint64_t seed, std::int64_t index) {
    return Random(Random(seed ^ Random(static_cast<std::uint64_t>(index)).next()).next());
  }
  std::uint64_t next();
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
  }

 private:
  std::uint64_t state_;
};

// The steps of one simulated rank, one after the other. Its own time is relative to its median over the job:
// a rank that is slower from the first step to the last is a slow rank, not noise. Drift and bursts within
// the job stay.
class RankNoise {
 public:
  // Of a job of that many steps. Deviations from the recording's typical step are multiplied by `scale`, from
  // 0 to 1: as recorded.
  // Not levelled: relative to the row's median alone, so that a short job drawn from a slow stretch is slow.
  RankNoise(const NoiseRecording& recording, std::uint64_t seed, double scale, std::size_t steps,
            bool levelled = true);
  const StepNoise& next() { return steps_.at(next_++); }

 private:
  std::vector<StepNoise> steps_;
  std::size_t next_ = 0;
};

// The scale that brings a recording to `level` at most; 0 asks for it as recorded. Never above 1: noise is
// not made up.
double scale_for(const NoiseRecording& recording, double level);

}  // namespace lockstep::accuracy
