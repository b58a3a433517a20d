#include "reference_trainer/training/training.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <malloc.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>
#include <torch/utils.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "reference_trainer/data/training_data.h"
#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/distributed/data_parallel.h"
#include "reference_trainer/distributed/sharding_group.h"
#include "reference_trainer/fsdp/fully_sharded.h"
#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/logging/log.h"
#include "reference_trainer/model/transformer.h"
#include "reference_trainer/training/forward_backward.h"

namespace lockstep::trainer {
namespace {

using annotations::kNoLayer;
using annotations::Scope;
using Clock = std::chrono::steady_clock;

struct Batch {
  at::Tensor tokens;
  at::Tensor targets;
};

// Sequences of the text as int64 [batch, length], and the same shifted by one token.
Batch make_batch(const std::string& text, const std::vector<std::size_t>& offsets, int length) {
  const auto rows = static_cast<std::int64_t>(offsets.size());
  const at::Tensor windows = at::empty({rows, length + 1}, at::kLong);
  auto* out = windows.data_ptr<std::int64_t>();
  for (const std::size_t offset : offsets) {
    for (int i = 0; i <= length; ++i)
      *out++ = static_cast<unsigned char>(text[offset + static_cast<std::size_t>(i)]);
  }
  return {windows.narrow(1, 0, length).contiguous(), windows.narrow(1, 1, length).contiguous()};
}

void print(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

class Trainer {
 public:
  Trainer(const Options& options, const Placement& placement, const Text& text, Sampler sampler,
          TrainingLog& log)
      : options_(options), placement_(placement), text_(text), sampler_(std::move(sampler)), log_(log) {
    annotations::name_this_thread("main");
    torch::manual_seed(options.training.seed);
    model_ = std::make_unique<Transformer>(options.model);
    if (placement.world_size > 1) {
      communicator_ =
          std::make_unique<Communicator>(placement, std::chrono::seconds(options.timeout_seconds));
      if (options.mode == Mode::fsdp) {
        share_parameters();
      } else {
        data_parallel_ = std::make_unique<DataParallel>(*communicator_, named_parameters(), options.buckets);
      }
    }
    optimizer_ = std::make_unique<torch::optim::AdamW>(
        sharded_ ? sharded_->shards() : model_->parameters(),
        torch::optim::AdamWOptions(options.training.learning_rate).weight_decay(0.01));
  }

  Status run() {
    write_start();
    for (int step = 1; step <= options_.training.steps; ++step) {
      const StepRecord record = run_step(step);
      if (!std::isfinite(record.loss) || !std::isfinite(record.gradient_norm)) {
        return Error{divergence_message(record)};
      }
      if (placement_.rank != 0) continue;
      log_.step(record);
      print(progress_line(record));
    }
    // Whoever is done first must not close its connections while others still read from them.
    if (communicator_) {
      communicator_->set_purpose(Purpose::shutdown);
      communicator_->barrier();
    }
    return {};
  }

 private:
  std::vector<Parameter> named_parameters() const {
    std::vector<Parameter> parameters;
    for (const auto& item : model_->named_parameters()) parameters.push_back({item.key(), item.value()});
    return parameters;
  }

  void share_parameters() {
    std::vector<at::Tensor> parameters;
    for (const at::Tensor& parameter : model_->parameters()) parameters.push_back(parameter.detach());
    communicator_->set_purpose(Purpose::parameters);
    communicator_->broadcast(parameters);
    annotations::Group group{.id = 1, .name = "fsdp", .ranks = {}};
    for (int rank = 0; rank < placement_.world_size; ++rank) group.ranks.push_back(rank);
    sharding_group_ = std::make_unique<ShardingGroup>(*communicator_, std::move(group));
    sharded_ = std::make_unique<FullySharded>(*sharding_group_, *model_, options_.fsdp);
  }

  void write_start() {
    StartRecord record{.world_size = placement_.world_size,
                       .text_source = text_.source,
                       .text_bytes = text_.bytes.size(),
                       .sequences = sampler_.windows(),
                       .parameters = {}};
    for (const Parameter& parameter : named_parameters()) {
      record.parameters.push_back(
          {parameter.name, parameter.tensor.numel(), static_cast<std::int64_t>(parameter.tensor.nbytes())});
    }
    if (placement_.rank == 0) print(headline(options_, record));
    log_.start(options_, record);
    if (data_parallel_) write_buckets(1, false);
  }

  void write_buckets(int step, bool rebuilt) {
    if (placement_.rank != 0) return;
    std::vector<BucketRecord> records;
    for (const Bucket& bucket : data_parallel_->buckets())
      records.push_back({bucket.bytes, bucket.parameters});
    log_.buckets(step, rebuilt, records);
  }

  StepRecord run_step(int step) {
    const auto range = Scope::step(step);
    const Clock::time_point begin = Clock::now();
    const Traffic before = communicator_ ? communicator_->traffic(Purpose::gradients) : Traffic{};
    model_->zero_grad();
    double loss = 0;
    const int micro_steps = options_.training.gradient_accumulation;
    for (int index = 0; index < micro_steps; ++index) loss += run_micro_step(step, index) / micro_steps;
    const std::function<double()> mean_loss = start_mean_loss(loss);

    StepRecord record{.step = step};
    record.gradient_norm = update();
    record.loss = mean_loss();
    annotations::count("loss", record.loss);
    record.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    record.tokens_per_second = static_cast<double>(tokens_per_step()) / record.seconds;
    if (communicator_) {
      const Traffic traffic = communicator_->traffic(Purpose::gradients) - before;
      record.all_reduces = traffic.operations;
      record.all_reduce_bytes = traffic.bytes;
    }
    return record;
  }

  double run_micro_step(int step, int index) {
    const bool last = index + 1 == options_.training.gradient_accumulation;
    Batch batch;
    {
      const auto range = Scope::phase("data_loading");
      batch = make_batch(text_.bytes,
                         sampler_.batch(static_cast<std::size_t>(step - 1), static_cast<std::size_t>(index)),
                         options_.model.sequence_length);
    }
    MicroStep micro_step{
        .index = index,
        .tokens = batch.tokens,
        .targets = batch.targets,
        .loss_scale = 1.0 / options_.training.gradient_accumulation,
        .reduces_gradients = false,
        .forward_repetitions = options_.slow.rank == placement_.rank ? options_.slow.factor : 1,
        .between_passes = {},
        .parts = {}};
    if (data_parallel_) {
      if (data_parallel_->before_forward(last)) write_buckets(step, true);
      micro_step.reduces_gradients = last;
      if (last) micro_step.between_passes = [this] { data_parallel_->before_backward(); };
    }
    if (sharded_) micro_step.parts = sharded_->hooks(last);
    const double loss = forward_backward(*model_, micro_step);
    if (sharded_ && last) {
      const auto range = Scope::phase("wait for gradients");
      sharded_->wait_for_gradients();
    }
    return loss;
  }

  // The mean over all ranks, on its way while the optimizer computes.
  std::function<double()> start_mean_loss(double loss) {
    if (!communicator_) return [loss] { return loss; };
    communicator_->set_purpose(Purpose::loss);
    return [wait = communicator_->start_mean(loss)] {
      const auto range = Scope::phase("wait for loss");
      return wait();
    };
  }

  // Clips the gradients and updates the parameters. Returns the gradients' norm before clipping.
  double update() {
    const auto phase = Scope::phase("optimizer");
    const double limit = options_.training.clip_grad_norm;
    double norm = 0;
    if (sharded_) {
      norm = clip_shards(limit);
    } else {
      const auto range = Scope::compute("clip gradients", kNoLayer, -1);
      norm = torch::nn::utils::clip_grad_norm_(model_->parameters(), limit > 0 ? limit : HUGE_VAL);
    }
    const auto range = Scope::compute("AdamW", kNoLayer, -1);
    optimizer_->step();
    return norm;
  }

  // As clip_grad_norm_ does it, with the norm of the whole gradient: its squares are summed over the ranks.
  double clip_shards(double limit) {
    double squares = 0;
    {
      const auto range = Scope::compute("gradient norm", kNoLayer, -1);
      for (const at::Tensor& shard : sharded_->shards())
        squares += shard.grad().to(at::kDouble).square().sum().item<double>();
    }
    communicator_->set_purpose(Purpose::gradient_norm);
    const std::function<double()> mean = communicator_->start_mean(squares);
    {
      const auto range = Scope::phase("wait for gradient norm");
      squares = mean() * placement_.world_size;
    }
    const double norm = std::sqrt(squares);
    const auto range = Scope::compute("clip gradients", kNoLayer, -1);
    const double factor = limit > 0 ? limit / (norm + 1e-6) : 1;
    if (factor < 1)
      for (const at::Tensor& shard : sharded_->shards()) shard.grad().mul_(factor);
    return norm;
  }

  std::int64_t tokens_per_step() const {
    return std::int64_t{placement_.world_size} * options_.training.batch_size *
           options_.training.gradient_accumulation * options_.model.sequence_length;
  }

  const Options& options_;
  const Placement& placement_;
  const Text& text_;
  Sampler sampler_;
  TrainingLog& log_;
  std::unique_ptr<Transformer> model_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<DataParallel> data_parallel_;
  std::unique_ptr<ShardingGroup> sharding_group_;
  std::unique_ptr<FullySharded> sharded_;
  std::unique_ptr<torch::optim::AdamW> optimizer_;
};

// Each step allocates and frees the same tensors. Left to itself the allocator gives much of that back to the
// kernel, thousands of page faults a step, and how many hangs on the least change of order: steps would then
// not compare.
void keep_memory() {
  constexpr int kNever = 1 << 30;  // bytes
  mallopt(M_TRIM_THRESHOLD, kNever);
  mallopt(M_MMAP_THRESHOLD, kNever);
}

}  // namespace

Status train(const Options& options, const Placement& placement, const Text& text) {
  Result<Sampler> sampler =
      Sampler::create(sampler_shape(options, text, placement.world_size, placement.rank));
  if (!sampler.ok()) return sampler.error();
  TrainingLog log;
  if (placement.rank == 0 && !options.log.empty()) {
    Result<TrainingLog> created = TrainingLog::create(options.log);
    if (!created.ok()) return created.error();
    log = std::move(created).value();
  }
  try {
    keep_memory();
    at::set_num_threads(options.threads);
    at::set_num_interop_threads(1);
    Trainer trainer(options, placement, text, std::move(sampler).value(), log);
    if (Status status = trainer.run(); !status.ok()) return status;
  } catch (const c10::Error& error) {
    return Error{std::string("training stopped: ") + error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return Error{std::string("training stopped: ") + error.what()};
  }
  return log.close();
}

}  // namespace lockstep::trainer
