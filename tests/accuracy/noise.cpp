#include "tests/accuracy/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <utility>

namespace lockstep::accuracy {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_of(const std::vector<std::vector<StepNoise>>& rows, double StepNoise::*column) {
  std::vector<double> values;
  for (const std::vector<StepNoise>& row : rows)
    for (const StepNoise& step : row) values.push_back(step.*column);
  return median(std::move(values));
}

// From nanoseconds to units of the medians.
void make_relative(NoiseRecording& recording) {
  const double transfer = median_of(recording.rows, &StepNoise::transfer);
  double sum = 0, squares = 0;
  std::size_t count = 0;
  for (std::vector<StepNoise>& row : recording.rows) {
    std::vector<double> owns;
    for (const StepNoise& step : row) owns.push_back(step.own());
    const double unit = median(std::move(owns));
    for (StepNoise& step : row) {
      step.compute /= unit;
      step.loading /= unit;
      step.other /= unit;
      step.transfer = transfer > 0 ? step.transfer / transfer : 1;
      sum += step.own();
      squares += step.own() * step.own();
      ++count;
    }
  }
  const double mean = sum / static_cast<double>(count);
  recording.level = std::sqrt(std::max(0.0, squares / static_cast<double>(count) - mean * mean));
  StepNoise& typical = recording.typical;
  typical = {median_of(recording.rows, &StepNoise::compute), median_of(recording.rows, &StepNoise::loading),
             median_of(recording.rows, &StepNoise::other), median_of(recording.rows, &StepNoise::transfer)};
  // Medians of parts do not sum to the median of the whole; what every rank's noise is around has to.
  const double whole = typical.own();
  typical.compute /= whole;
  typical.loading /= whole;
  typical.other /= whole;
}

}  // namespace

Result<NoiseRecording> read_noise(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) return Error{fmt::format("{}: cannot be read", file.string())};
  NoiseRecording recording;
  recording.name = file.stem().string();
  std::map<int, std::vector<StepNoise>> rows;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.starts_with("#")) {
      if (recording.description.empty()) recording.description = line.substr(line.find_first_not_of("# "));
      continue;
    }
    if (line.empty() || line.starts_with("rank,")) continue;
    int rank = 0, step = 0;
    StepNoise noise;
    const int read = std::sscanf(line.c_str(), "%d,%d,%lf,%lf,%lf,%lf", &rank, &step, &noise.compute,
                                 &noise.loading, &noise.other, &noise.transfer);
    if (read != 6 || noise.compute < 0 || noise.loading < 0 || noise.other < 0 || noise.transfer < 0 ||
        noise.own() <= 0)
      return Error{
          fmt::format("{}:{}: expected rank,step,compute_ns,loading_ns,other_ns,transfer_ns, none below 0",
                      file.string(), number)};
    rows[rank].push_back(noise);
  }
  const std::size_t steps = rows.empty() ? 0 : rows.begin()->second.size();
  for (auto& [rank, row] : rows) {
    if (row.size() < kBlockSteps || row.size() != steps)
      return Error{fmt::format("{}: rank {} has {} steps; every rank needs the same number, {} at least",
                               file.string(), rank, row.size(), kBlockSteps)};
    recording.rows.push_back(std::move(row));
  }
  if (recording.rows.empty()) return Error{fmt::format("{}: holds no steps", file.string())};
  make_relative(recording);
  return recording;
}

Result<std::vector<NoiseRecording>> read_noise_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  if (files.empty()) return Error{fmt::format("{}: no recordings of noise (*.csv) in it", folder.string())};
  std::sort(files.begin(), files.end());
  std::vector<NoiseRecording> recordings;
  for (const std::filesystem::path& file : files) {
    Result<NoiseRecording> recording = read_noise(file);
    if (!recording.ok()) return recording.error();
    recordings.push_back(std::move(recording).value());
  }
  return recordings;
}

std::uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30u)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27u)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31u);
}

RankNoise::RankNoise(const NoiseRecording& recording, std::uint64_t seed, double scale, std::size_t steps,
                     bool levelled) {
  Random random(seed);
  while (steps_.size() < steps) {
    const std::size_t row = random.below(recording.rows.size());
    const std::vector<StepNoise>& recorded = recording.rows[row];
    const std::size_t first = random.below(recorded.size() - kBlockSteps + 1);
    for (std::size_t step = first; step < first + kBlockSteps && steps_.size() < steps; ++step) {
      steps_.push_back(recorded[step]);
    }
  }
  std::vector<double> owns;
  for (const StepNoise& step : steps_) owns.push_back(step.own());
  const double level = levelled ? median(std::move(owns)) : 1;
  const StepNoise& typical = recording.typical;
  const auto scaled = [scale](double value, double middle) { return middle + scale * (value - middle); };
  for (StepNoise& step : steps_)
    step = {scaled(step.compute / level, typical.compute), scaled(step.loading / level, typical.loading),
            scaled(step.other / level, typical.other), scaled(step.transfer, typical.transfer)};
}

double scale_for(const NoiseRecording& recording, double level) {
  return level <= 0 || recording.level <= level ? 1 : level / recording.level;
}

}  // namespace lockstep::accuracy
