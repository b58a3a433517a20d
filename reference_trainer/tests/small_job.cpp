#include "reference_trainer/tests/small_job.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace lockstep::trainer {

using nlohmann::json;

Arguments operator+(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Environment listening(const std::string& prefix) {
  return {{"NVTX_INJECTION64_PATH", LOCKSTEP_NVTX_LISTENER}, {"LOCKSTEP_TEST_LISTENER", prefix}};
}

SmallJob::SmallJob(Arguments model) : model_(std::move(model)) {
  write_file(folder_.file("text"), sample_text());
}

Arguments SmallJob::command(const Arguments& more) const {
  return Arguments{"--data", folder_.file("text"), "--log", folder_.file("log")} + model_ + more;
}

std::vector<json> SmallJob::log(const Arguments& more, const Environment& environment) const {
  TrainerProcess process(command(more), environment);
  EXPECT_EQ(process.wait(), 0) << process.errors();
  return read_json_lines(folder_.file("log"));
}

std::vector<json> SmallJob::steps(const Arguments& more) const {
  return events(log(more), "step");
}

std::vector<std::vector<json>> SmallJob::heard(int ranks, const Arguments& more) const {
  const auto file = [this](int rank) { return folder_.file("heard." + std::to_string(rank)); };
  // The listener appends.
  for (int rank = 0; rank < ranks; ++rank) std::filesystem::remove(file(rank));
  log(Arguments{"--ranks", std::to_string(ranks)} + more, listening(folder_.file("heard")));
  std::vector<std::vector<json>> heard;
  for (int rank = 0; rank < ranks; ++rank) heard.push_back(read_json_lines(file(rank)));
  return heard;
}

std::string SmallJob::refusal(const Arguments& more) const {
  TrainerProcess process(command(more));
  EXPECT_EQ(process.wait(), 2);
  EXPECT_EQ(process.output(), "");
  return process.errors();
}

std::vector<json> begun_in_step(const std::vector<json>& heard, int step) {
  std::vector<json> begun;
  std::int64_t now = 0;
  for (const json& line : heard) {
    if (line.at("kind") != "push") continue;
    const bool is_step = line.value("schema", "") == "lockstep.step";
    if (is_step) now = line.at("fields").at("step");
    if (now == step && !is_step) begun.push_back(line);
  }
  return begun;
}

std::vector<double> losses_of(const std::vector<json>& log) {
  std::vector<double> losses;
  for (const json& step : events(log, "step")) losses.push_back(step.at("loss"));
  return losses;
}

double largest_difference(const std::vector<json>& steps, const std::vector<json>& others,
                          const std::vector<const char*>& figures) {
  if (steps.size() != others.size()) throw std::runtime_error("logs of different numbers of steps");
  double largest = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const char* figure : figures) {
      const double one = steps[i].at(figure), other = others[i].at(figure);
      largest = std::max(largest, std::abs(one - other) / std::abs(one));
    }
  }
  return largest;
}

}  // namespace lockstep::trainer
