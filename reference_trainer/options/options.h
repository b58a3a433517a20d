// What the user asks of the trainer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference_trainer/faults/fault.h"
#include "reference_trainer/options/mode_options.h"

namespace lockstep::trainer {

// bfloat16: computed in bfloat16, with float32 masters of the weights for the optimizer.
enum class Precision { float32, float64, bfloat16 };

enum class Architecture { gpt2, llama };

struct ModelOptions {
  Architecture architecture = Architecture::gpt2;
  int layers = 6;
  int hidden = 192;
  int heads = 6;
  int kv_heads = 0;           // llama; 0: the usual ones (llama_shape.h)
  int intermediate_size = 0;  // llama; 0: the usual one
  int sequence_length = 64;   // tokens; a token is a byte
  Precision precision = Precision::float32;
};

struct TrainingOptions {
  int steps = 20;
  int batch_size = 4;             // sequences per rank and micro-step
  int gradient_accumulation = 1;  // micro-steps per step; gradients are reduced in the last one alone
  double learning_rate = 1e-3;
  double clip_grad_norm = 1.0;  // 0 switches clipping off
  bool activation_checkpointing = false;
  std::uint64_t seed = 1;
};

enum class Device { cpu, paced, cuda };

// What carries operations of an accelerator: Gloo through the host's memory, or NCCL.
enum class Transport { automatic, gloo, nccl };

// A modelled accelerator and network in place of the time that arithmetic and loopback take here.
struct PaceOptions {
  double flops_per_second = 0;  // 0: none
  double jitter = 0;            // each computation's time is scaled by 1 ± up to this, seeded
  double bytes_per_second = 0;  // of each rank's link; 0: as fast as it goes
  double latency_us = 0;        // of each operation
};

// --slow-rank and --slow-factor, short for a fault slow_rank.
struct SlowRankOptions {
  int rank = -1;  // -1: none
  int factor = 2;
};

struct Mode;

struct Options {
  int ranks = 0;  // 0: not given
  int threads = 1;
  int timeout_seconds = 300;
  Device device = Device::cpu;
  Transport transport = Transport::automatic;
  std::string data;  // empty: the project's own documentation
  std::string log;   // empty: none
  ModelOptions model;
  TrainingOptions training;
  const Mode* mode = nullptr;         // set once the command line is parsed
  ModeOptions own;                    // of each mode
  std::vector<std::string> warnings;  // to be told when the job starts
  PaceOptions pace;
  SlowRankOptions slow;
  std::vector<Fault> faults;  // planted causes of waiting, that of `slow` among them
};

const char* to_string(Precision precision);
const char* to_string(Architecture architecture);
const char* to_string(Device device);
const char* to_string(Transport transport);

// --backend, or, where it is left open: NCCL if each of the node's ranks has a GPU of its own and the mode
// of training can do with it, else Gloo.
Transport transport_of(const Options& options, int local_ranks, int gpus);

}  // namespace lockstep::trainer
