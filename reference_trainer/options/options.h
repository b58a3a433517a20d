// What the user asks of the trainer: the command line, checked.
//
// Two kinds of mistakes are told apart: a flag or value that cannot be right (exit code 2), reported here
// with the flag's name and value, and everything that goes wrong later (exit code 1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference_trainer/faults/fault.h"
#include "reference_trainer/pipeline/schedule.h"
#include "reference_trainer/zero/deepspeed_config.h"

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

// As the arguments of PyTorch's DistributedDataParallel of these names; limits of gradient buckets in bytes.
struct DdpOptions {
  std::int64_t first_bytes = 0;
  std::int64_t cap_bytes = 0;
  bool gradient_as_bucket_view = true;
  bool find_unused_parameters = false;
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

// What is spread over the ranks besides the batch.
enum class Mode { single, ddp, fsdp, zero1, zero2, zero3, pipeline };
// 1 to 3; 0: not ZeRO.
int zero_stage(Mode mode);

enum class ShardingStrategy { full_shard, shard_grad_op, no_shard, hybrid_shard };
enum class BackwardPrefetch { none, pre, post };

// As the arguments of PyTorch's FullyShardedDataParallel of these names.
struct FsdpOptions {
  ShardingStrategy strategy = ShardingStrategy::full_shard;
  BackwardPrefetch backward_prefetch = BackwardPrefetch::pre;
  bool forward_prefetch = false;
  bool limit_all_gathers = true;
  bool cpu_offload = false;
  // 0: a unit per layer; else layers are joined until a unit has so many parameters.
  std::int64_t unit_parameters = 0;
  int shard_size = 0;              // hybrid_shard: ranks that share a copy; 0: those of a node
  bool reduce_in_float32 = false;  // with bfloat16: what gradients are reduced in
};

// The number of microbatches is TrainingOptions::gradient_accumulation.
struct PipelineOptions {
  int stages = 0;  // 0: as many as there are ranks
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  int chunks = 0;            // of the model on each rank; 0: what the schedule needs at least
  bool overlap_p2p = false;  // receives are posted before the compute that comes before their use
};

// --slow-rank and --slow-factor, short for a fault slow_rank.
struct SlowRankOptions {
  int rank = -1;  // -1: none
  int factor = 2;
};

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
  Mode mode = Mode::ddp;  // of several ranks; one rank is always `single`
  DdpOptions ddp;
  FsdpOptions fsdp;
  std::string deepspeed_file;  // empty: none
  ZeroOptions zero;
  BatchSizes batch_sizes;             // what flags and that file say; see settle_batch_sizes()
  std::vector<std::string> warnings;  // of that file
  PipelineOptions pipeline;
  PaceOptions pace;
  SlowRankOptions slow;
  std::vector<Fault> faults;  // planted causes of waiting, that of `slow` among them
};

// What a command line comes to: options to run with, or text to print and an exit code.
struct CommandLine {
  Options options;
  bool exits = false;
  int exit_code = 0;
  std::string output;  // the help, or the error message; ends with a newline
};

CommandLine parse_command_line(int argc, const char* const* argv);

// With a DeepSpeed configuration: the batch sizes that follow from it for `world_size` ranks.
Status settle_batch_sizes(Options& options, int world_size);

// What one flag alone cannot tell: combinations, for a job of `world_size` ranks.
Status check_options(const Options& options, int world_size);

const char* to_string(Precision precision);
const char* to_string(Mode mode);
const char* to_string(Architecture architecture);
const char* to_string(Device device);
const char* to_string(Transport transport);

// --backend, or, where it is left open: NCCL if each of the node's ranks has a GPU of its own and the mode
// can do with it, else Gloo.
Transport transport_of(const Options& options, int local_ranks, int gpus);

}  // namespace lockstep::trainer
