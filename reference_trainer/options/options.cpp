#include "reference_trainer/options/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace lockstep::trainer {
namespace {

constexpr double kBytesPerMegabyte = 1024.0 * 1024.0;
constexpr double kLargestMegabytes = 1024.0 * 1024.0;

constexpr const char* kDescription =
    "lockstep train: trains a decoder-only transformer on the bytes of a text, on one or several ranks.\n"
    "Data parallel through PyTorch's own Reducer on Gloo, annotated with NVTX (docs/instrumentation.md).";

constexpr const char* kFooter =
    "Examples:\n"
    "  lockstep train                                   one process, the project's documentation as text\n"
    "  lockstep train --ranks 4 --steps 50              four processes on this machine\n"
    "  lockstep train --ranks 4 --bucket-cap-mb 25      one large bucket: little communication is hidden\n"
    "  lockstep train --ranks 4 --slow-rank 2           rank 2 computes twice: the others wait for it\n"
    "  lockstep record -o run -- lockstep train --ranks 4\n"
    "  torchrun --no-python --nproc-per-node 4 lockstep train --steps 50\n"
    "\n"
    "Exit codes: 0 trained; 1 training failed; 2 a wrong flag or value; where a rank dies, its exit code, or "
    "128 plus the\n"
    "number of the signal that killed it.";

// CLI11's own checks speak of ranges up to 1.8e308; these say what a value must be and what it was.
CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](const std::string& text) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool whole = error == std::errc() && end == text.data() + text.size();
            return whole && value >= least && value <= most
                       ? std::string()
                       : fmt::format("'{}' must be a whole number from {} to {}", text, least, most);
          },
          ""};
}

CLI::Validator number(bool zero_allowed, double most) {
  return {[zero_allowed, most](const std::string& text) {
            double value = 0;
            const bool parsed = CLI::detail::lexical_cast(text, value);
            return parsed && value <= most && (value > 0 || (zero_allowed && value == 0))
                       ? std::string()
                       : fmt::format("'{}' must be a number {} 0, up to {}", text,
                                     zero_allowed ? "of at least" : "above", most);
          },
          ""};
}

constexpr std::int64_t kMillion = 1'000'000;

void add_job_flags(CLI::App& app, Options& options) {
  const char* group = "Job";
  app.add_option("--ranks", options.ranks,
                 "Processes to start on this machine (default 1); not needed under torchrun")
      ->check(whole_number(1, 1024))
      ->type_name("N")
      ->group(group);
  app.add_option("--device", options.device, "Where to compute: cpu")
      ->check(CLI::IsMember({"cpu"}).description(""))
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  app.add_option("--threads", options.threads, "Threads that compute in each rank")
      ->check(whole_number(1, 1024))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--timeout", options.timeout_seconds,
                 "Seconds that a rank waits for the others before it gives up")
      ->check(whole_number(1, kMillion))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(group);
  app.add_option("--data", options.data,
                 "Text file, or folder of text files (default: this project's documentation)")
      ->type_name("PATH")
      ->group(group);
  app.add_option("--log", options.log, "Write configuration, buckets and each step as JSON lines")
      ->type_name("FILE")
      ->group(group);
}

void add_model_flags(CLI::App& app, ModelOptions& model) {
  const char* group = "Model";
  app.add_option("--layers", model.layers, "Transformer layers")
      ->check(whole_number(1, 1000))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--hidden", model.hidden, "Width; a multiple of --heads")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--heads", model.heads, "Attention heads")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--sequence-length", model.sequence_length, "Tokens (bytes) in a sequence")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option_function<std::string>(
         "--dtype",
         [&model](const std::string& name) {
           model.precision = name == "float64" ? Precision::float64 : Precision::float32;
         },
         "float32 or float64")
      ->check(CLI::IsMember({"float32", "float64"}).description(""))
      ->type_name("TYPE")
      ->default_str("float32")
      ->group(group);
}

void add_training_flags(CLI::App& app, TrainingOptions& training) {
  const char* group = "Training";
  app.add_option("--steps", training.steps, "Optimizer steps")
      ->check(whole_number(1, 1000 * kMillion))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--batch-size", training.batch_size,
                 "Sequences in a rank's batch: 4 ranks x 2 see what 1 rank x 8 sees")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--gradient-accumulation", training.gradient_accumulation,
                 "Batches per step; gradients are all-reduced in the last one alone")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--learning-rate", training.learning_rate, "AdamW's learning rate")
      ->check(number(false, 1e6))
      ->type_name("RATE")
      ->capture_default_str()
      ->group(group);
  app.add_option("--clip-grad-norm", training.clip_grad_norm,
                 "Largest global norm of the gradient; 0 never clips")
      ->check(number(true, 1e300))
      ->type_name("NORM")
      ->capture_default_str()
      ->group(group);
  app.add_option("--seed", training.seed, "Seed of the initial weights and of the order of the data")
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
}

struct Megabytes {
  double cap = 4;
  double first = 1;
};

// A flag whose value is one of a few names.
template <class Value>
void add_choice(CLI::App& app, const std::string& flag, const std::string& help,
                const std::map<std::string, Value>& values, const std::string& usual,
                const std::string& group, Value& value) {
  std::vector<std::string> names;
  for (const auto& item : values) names.push_back(item.first);
  app.add_option_function<std::string>(
         flag, [&value, values](const std::string& name) { value = values.at(name); },
         fmt::format("{}: {}", help, fmt::join(names, ", ")))
      ->check(CLI::IsMember(names).description(""))
      ->type_name("NAME")
      ->default_str(usual)
      ->group(group);
}

void add_parallel_flags(CLI::App& app, Megabytes& buckets, FsdpOptions& fsdp, SlowRankOptions& slow) {
  const char* group = "Data parallel";
  app.add_option("--bucket-cap-mb", buckets.cap,
                 "Size (MiB) at which a gradient bucket is closed; PyTorch's default is 25")
      ->check(number(false, kLargestMegabytes))
      ->type_name("MIB")
      ->capture_default_str()
      ->group(group);
  app.add_option("--first-bucket-mb", buckets.first,
                 "The same for the first bucket, which starts communication early")
      ->check(number(false, kLargestMegabytes))
      ->type_name("MIB")
      ->capture_default_str()
      ->group(group);
  group = "Fully sharded (--mode fsdp)";
  add_choice(
      app, "--sharding-strategy", "What is sharded between forward and backward",
      {{"full_shard", ShardingStrategy::full_shard}, {"shard_grad_op", ShardingStrategy::shard_grad_op}},
      "full_shard", group, fsdp.strategy);
  add_choice(
      app, "--backward-prefetch", "When backward gathers the next layer: before or after this one's",
      {{"pre", BackwardPrefetch::pre}, {"post", BackwardPrefetch::post}, {"none", BackwardPrefetch::none}},
      "pre", group, fsdp.backward_prefetch);
  app.add_flag("--forward-prefetch", fsdp.forward_prefetch,
               "Forward gathers the next layer before this one's")
      ->group(group);
  group = "Teaching aids";
  app.add_option("--slow-rank", slow.rank,
                 "This rank computes every layer's forward several times: a real straggler")
      ->check(whole_number(0, kMillion))
      ->type_name("RANK")
      ->group(group);
  app.add_option("--slow-factor", slow.factor, "How many times (default 2)")
      ->check(whole_number(1, 1000))
      ->type_name("N")
      ->group(group);
}

std::int64_t to_bytes(double megabytes) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(megabytes * kBytesPerMegabyte));
}

CommandLine usage_error(const std::string& message) {
  return {.options = {},
          .exits = true,
          .exit_code = 2,
          .output = "lockstep train: " + message + "\nTry 'lockstep train --help'.\n"};
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  Megabytes buckets;
  CLI::App app(kDescription, "lockstep train");
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  add_job_flags(app, line.options);
  add_model_flags(app, line.options.model);
  add_training_flags(app, line.options.training);
  add_choice(app, "--mode", "How several ranks share the work",
             {{"ddp", Mode::ddp}, {"fsdp", Mode::fsdp}, {"single", Mode::single}}, "ddp", "Job",
             line.options.mode);
  add_parallel_flags(app, buckets, line.options.fsdp, line.options.slow);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.exits = true;
    line.output = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  const std::pair<const char*, Mode> of_mode[] = {{"--bucket-cap-mb", Mode::ddp},
                                                  {"--first-bucket-mb", Mode::ddp},
                                                  {"--sharding-strategy", Mode::fsdp},
                                                  {"--backward-prefetch", Mode::fsdp},
                                                  {"--forward-prefetch", Mode::fsdp}};
  for (const auto& [flag, mode] : of_mode) {
    if (app.count(flag) > 0 && line.options.mode != mode)
      return usage_error(fmt::format("{} belongs to --mode {}, and this is --mode {}", flag, to_string(mode),
                                     to_string(line.options.mode)));
  }
  if (app.count("--slow-factor") > 0 && app.count("--slow-rank") == 0)
    return usage_error("--slow-factor: which rank is to be slow? Give --slow-rank too");
  line.options.buckets = {.first_bytes = to_bytes(buckets.first), .cap_bytes = to_bytes(buckets.cap)};
  return line;
}

Status check_options(const Options& options, int world_size) {
  const ModelOptions& model = options.model;
  if (model.hidden % model.heads != 0) {
    return Error{fmt::format("--hidden {} is not a multiple of --heads {}", model.hidden, model.heads)};
  }
  if (options.mode == Mode::single && world_size > 1)
    return Error{
        fmt::format("--mode single: this job has {} ranks; --mode ddp or fsdp shares the work", world_size)};
  if (options.mode == Mode::fsdp && world_size == 1)
    return Error{"--mode fsdp: one rank has nobody to share its parameters with; give --ranks N"};
  if (options.slow.rank >= world_size) {
    return Error{
        fmt::format("--slow-rank {}: the job's ranks are 0 to {}", options.slow.rank, world_size - 1)};
  }
  return {};
}

const char* to_string(Mode mode) {
  switch (mode) {
    case Mode::single:
      return "single";
    case Mode::ddp:
      return "ddp";
    case Mode::fsdp:
      return "fsdp";
  }
  return "";
}

const char* to_string(Precision precision) {
  return precision == Precision::float64 ? "float64" : "float32";
}

}  // namespace lockstep::trainer
