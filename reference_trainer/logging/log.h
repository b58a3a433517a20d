// The training log: JSON lines, each an object with an "event". Written by rank 0.
//
//   {"event":"start", "schema":"lockstep.train/1", "world_size":…, "configuration":{…}, "deepspeed":{…}|null,
//    "text":{…}, "times":"measured"|"modelled", "parameter_count":…, "gradient_bytes":…, "parameters":[…]}
//   {"event":"buckets", "step":1, "when":"initial"|"rebuilt", "buckets":[{"bytes":…,
//   "parameters":["head.weight", …]}, …]}
//   {"event":"step", "step":1, "loss":…, "gradient_norm":…, "tokens_per_second":…, "seconds":…,
//    "all_reduces":…, "all_reduce_bytes":…}      the last two in mode ddp alone
//   {"event":"memory", "rank":0, "parameters":…, "gradients":…, "optimizer":…,
//    "theory":{"parameters":…, "gradients":…, "optimizer":…}}
//
// "configuration" is what --config takes, "deepspeed" what --deepspeed takes (configuration.h): with both the
// job can be run again. Steps count from 1. "memory" is in bytes, of rank 0 before the update of step 2
// (memory/theory.h). "times" are "modelled" on a paced device: seconds and rates are then those of its model.
// "all_reduces" are those of gradients that this rank issued in the step. "buckets" stands
// before the first step that uses them, and is absent where the job has one rank.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference_trainer/memory/theory.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

struct StartRecord {
  struct Parameter {
    std::string name;
    std::int64_t elements = 0;
    std::int64_t bytes = 0;
  };
  int world_size = 1;
  std::string text_source;
  std::size_t text_bytes = 0;
  std::size_t sequences = 0;
  std::vector<Parameter> parameters;
};

struct BucketRecord {
  std::int64_t bytes = 0;
  std::vector<std::string> parameters;
};

struct StepRecord {
  int step = 0;
  double loss = 0;           // nats per token, mean over all ranks
  double gradient_norm = 0;  // before clipping
  double seconds = 0;
  double tokens_per_second = 0;  // of the whole job
  // Of gradients; nothing where the mode does not count them.
  std::optional<std::uint64_t> all_reduces = {}, all_reduce_bytes = {};
};

class TrainingLog {
 public:
  // A log that writes nothing.
  TrainingLog() = default;
  // Replaces the file. Each line is flushed.
  static Result<TrainingLog> create(const std::string& path);

  void start(const Options& options, const StartRecord& record);
  void buckets(int step, bool rebuilt, const std::vector<BucketRecord>& buckets);
  void step(const StepRecord& record);
  void memory(const StateBytes& measured, const StateBytes& theory);
  // An error where any line could not be written (the disk is full).
  Status close();

 private:
  void write(const std::string& line);

  std::string path_;
  std::ofstream file_;
};

// "2.78 million parameters in float32 on 4 ranks; 155 sequences of 64 tokens from '/usr/share/lockstep'";
// where the device is paced, "on 4 ranks of a paced device (modelled times, not measured)".
std::string headline(const Options& options, const StartRecord& record);

// "step 3  loss 4.217341  tokens/s 12345  gradient norm 1.234  142 ms"
std::string progress_line(const StepRecord& record);

// What to say where the loss or the gradient is no longer a finite number.
std::string divergence_message(const StepRecord& record);

}  // namespace lockstep::trainer
