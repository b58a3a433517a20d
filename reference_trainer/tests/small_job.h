// A training job that is over in a second: a tiny model on a short text, of which a test reads the log, or
// what each rank told NVTX.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {

using Arguments = std::vector<std::string>;
Arguments operator+(Arguments first, const Arguments& second);

// The environment in which rank N's calls of NVTX are written to PREFIX.N (nvtx_listener.cpp).
Environment listening(const std::string& prefix);

class SmallJob : public testing::Test {
 protected:
  // Each test says how large its model is: "--layers", "--hidden" and the like.
  explicit SmallJob(Arguments model);

  // Text, log and model, then `more`.
  Arguments command(const Arguments& more) const;
  // Trains, and returns the lines of the log.
  std::vector<nlohmann::json> log(const Arguments& more, const Environment& environment = {}) const;
  // Of these, the events "step".
  std::vector<nlohmann::json> steps(const Arguments& more) const;
  // Trains while a listener listens: what each rank told NVTX, in order.
  std::vector<std::vector<nlohmann::json>> heard(int ranks, const Arguments& more) const;
  // What the trainer says to flags that it does not take.
  std::string refusal(const Arguments& more) const;

  Arguments model_;
  TemporaryFolder folder_;
};

// Of what a rank told NVTX: the ranges that began within this step, that of the step itself left out.
std::vector<nlohmann::json> begun_in_step(const std::vector<nlohmann::json>& heard, int step);

// Of a log's steps.
std::vector<double> losses_of(const std::vector<nlohmann::json>& log);

// The largest relative difference, over all steps of two logs, of these figures.
double largest_difference(const std::vector<nlohmann::json>& steps, const std::vector<nlohmann::json>& others,
                          const std::vector<const char*>& figures = {"loss", "gradient_norm"});

}  // namespace lockstep::trainer
