#include "reference_trainer/training/training.h"

#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <c10/util/Logging.h>
#include <malloc.h>
#include <torch/optim/adamw.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/data/training_data.h"
#include "reference_trainer/device/compute_lane.h"
#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/distributed/failure_message.h"
#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/logging/agreement.h"
#include "reference_trainer/logging/log.h"
#include "reference_trainer/logging/standard_output.h"
#include "reference_trainer/memory/allocations.h"
#include "reference_trainer/memory/state.h"
#include "reference_trainer/model/model.h"
#include "reference_trainer/modes/factory.h"
#include "reference_trainer/options/mode.h"
#include "reference_trainer/strategy/strategy.h"
#include "reference_trainer/streams/device_stream.h"
#include "reference_trainer/training/description.h"
#include "reference_trainer/training/text_batches.h"

namespace lockstep::trainer {
namespace {

using annotations::Scope;
using Clock = std::chrono::steady_clock;

// The group of all ranks: of the gradients in data parallelism, else of what every rank has to know.
const char* name_of_all_ranks(const Mode& mode) {
  return mode.reduces_over_all_ranks ? "data_parallel" : "world";
}

FaultPlace fault_place(const Options& options, const Placement& placement) {
  const MeshPlace place = options.mode->place(options, placement.world_size, placement.rank);
  return {.rank = placement.rank,
          .stage = place.stage,
          .replica = place.replica,
          .samples = options.training.batch_size};
}

class Trainer {
 public:
  Trainer(const Options& options, const Placement& placement, const ComputeDevice& device, const Text& text,
          Sampler sampler, TrainingLog& log)
      : options_(options),
        placement_(placement),
        device_(device),
        text_(text),
        faults_(FaultPlan(options.faults, options.training.seed), fault_place(options, placement)),
        batches_(text.bytes, options.model.sequence_length, std::move(sampler), faults_, device.device),
        log_(log),
        lane_(options.pace, options.training.seed, placement.rank, faults_) {
    // Reports name the device after the lane that computes.
    annotations::name_this_thread(lane_.paced() ? "paced device" : "main");
    if (!device.is_cpu())
      lane_.follow_device("cuda device", [device = device.device] { return mark(device); });
    if (annotations::tool_attached()) count_allocations(device.device);
    torch::manual_seed(options.training.seed);
    model_ = make_model(options.model);
    write_start();
    model_->to(device.device);
    if (placement.world_size > 1)
      communicator_ =
          std::make_unique<Communicator>(placement, shared_configuration(options, placement.world_size, text),
                                         std::chrono::seconds(options.timeout_seconds),
                                         name_of_all_ranks(*options.mode), device, options.pace, faults_);
    strategy_ = factory_of(*options.mode)(
        {options, placement, *model_, device_, communicator_.get(), lane_,
         [this](bool rebuilt, const auto& buckets) { write_buckets(rebuilt, buckets); }});
    optimizer_ = std::make_unique<torch::optim::AdamW>(
        strategy_->optimized(),
        torch::optim::AdamWOptions(options.training.learning_rate).weight_decay(0.01));
  }

  Status run() {
    if (annotations::tool_attached())
      annotations::describe_training(describe_training(options_, placement_, *strategy_, elements_));
    for (step_ = 1; step_ <= options_.training.steps; ++step_) {
      const StepRecord record = run_step();
      if (!std::isfinite(record.loss) || !std::isfinite(record.gradient_norm)) {
        return Error{divergence_message(record)};
      }
      if (placement_.rank != 0) continue;
      log_.step(record);
      print_line(progress_line(record));
    }
    if (!memory_line_.empty()) print_line(memory_line_);
    // Whoever is done first must not close its connections while others still read from them.
    if (communicator_) {
      communicator_->set_purpose(Purpose::shutdown);
      communicator_->barrier();
    }
    return {};
  }

 private:
  // Before any strategy takes the parameters over.
  void write_start() {
    StartRecord record{.world_size = placement_.world_size,
                       .text_source = text_.source,
                       .text_bytes = text_.bytes.size(),
                       .sequences = batches_.windows(),
                       .parameters = {}};
    const auto size = static_cast<std::int64_t>(c10::elementSize(compute_type(options_.model.precision)));
    for (const Parameter& parameter : model_->all_parameters())
      record.parameters.push_back(
          {parameter.name, parameter.tensor.numel(), parameter.tensor.numel() * size});
    for (const StartRecord::Parameter& parameter : record.parameters) elements_ += parameter.elements;
    if (placement_.rank == 0) print_line(headline(options_, record));
    log_.start(options_, record);
  }

  void write_buckets(bool rebuilt, const std::vector<Bucket>& buckets) {
    if (placement_.rank != 0) return;
    std::vector<BucketRecord> records;
    for (const Bucket& bucket : buckets) records.push_back({bucket.bytes, bucket.parameters});
    log_.buckets(step_, rebuilt, records);
  }

  StepRecord run_step() {
    const auto range = Scope::step(step_);
    const Clock::time_point begin = Clock::now();
    const Traffic before = communicator_ ? communicator_->traffic(Purpose::gradients) : Traffic{};
    faults_.begin_step(step_);
    batches_.begin_step(step_);
    const std::function<double()> mean_loss = start_sum(Purpose::loss, strategy_->run(batches_));

    StepRecord record{.step = step_};
    record.gradient_norm = update();
    record.loss = mean_loss();
    if (annotations::tool_attached()) {
      annotations::count("memory allocated", static_cast<double>(allocated_bytes()));
      annotations::count("memory peak", static_cast<double>(take_peak_bytes()));
    }
    annotations::count("loss", record.loss);
    if (annotations::tool_attached()) annotations::count("tokens", own_tokens());
    record.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    record.tokens_per_second = static_cast<double>(tokens_per_step()) / record.seconds;
    // Other modes have groups of their own for gradients, whose operations these counters do not see.
    if (options_.mode->reduces_over_all_ranks) {
      const Traffic traffic = communicator_ ? communicator_->traffic(Purpose::gradients) - before : Traffic{};
      record.all_reduces = traffic.operations;
      record.all_reduce_bytes = traffic.bytes;
    }
    return record;
  }

  // Over all ranks: on its way while the caller computes.
  std::function<double()> start_sum(Purpose purpose, double value) {
    if (!communicator_) return [value] { return value; };
    communicator_->set_purpose(purpose);
    return [purpose, wait = communicator_->start_sum(value, to_string(purpose))] {
      const auto range = Scope::phase(std::string("wait for ") + to_string(purpose));
      return wait();
    };
  }

  // Clips the gradients and updates the parameters. Returns the gradients' norm before clipping.
  double update() {
    const auto phase = Scope::phase("optimizer");
    const std::vector<at::Tensor> gradients = strategy_->gradients();
    const double norm = gradient_norm(gradients);
    const double limit = options_.training.clip_grad_norm;
    {
      // As torch.nn.utils.clip_grad_norm_ does it.
      const double factor = limit > 0 ? limit / (norm + 1e-6) : 1;
      const auto range = lane_.compute({Pass::optimizer, "clip gradients"});
      if (factor < 1)
        for (const at::Tensor& gradient : gradients) gradient.mul_(factor);
    }
    // In the second step everything is there that lasts.
    if (step_ == 2) count_state(gradients);
    {
      const auto range = lane_.compute({Pass::optimizer, "AdamW"});
      update_leaves(gradients);
    }
    strategy_->after_update();
    return norm;
  }

  double gradient_norm(const std::vector<at::Tensor>& gradients) {
    double squares = 0;
    {
      const auto range = lane_.compute({Pass::optimizer, "gradient norm"});
      // One number of the device to wait for, not one for each gradient.
      squares = at::stack(at::_foreach_norm(gradients, 2, master_type(options_.model.precision)))
                    .to(at::kDouble)
                    .square()
                    .sum()
                    .item<double>();
    }
    if (strategy_->gradient_copies() == placement_.world_size) return std::sqrt(squares);
    return std::sqrt(start_sum(Purpose::gradient_norm, squares)() / strategy_->gradient_copies());
  }

  void update_leaves(const std::vector<at::Tensor>& gradients) {
    const std::vector<at::Tensor> leaves = strategy_->optimized();
    if (std::all_of(leaves.begin(), leaves.end(),
                    [](const at::Tensor& leaf) { return leaf.grad().defined(); })) {
      optimizer_->step();
      return;
    }
    // One after the other, so that there is never more than one gradient in the precision of the masters.
    // (The optimizer leaves out what has no gradient.)
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      leaves[i].mutable_grad() = gradients[i].to(leaves[i].scalar_type());
      optimizer_->step();
      leaves[i].mutable_grad().reset();
    }
  }

  void count_state(const std::vector<at::Tensor>& gradients) {
    StateBytes state = measure_state(*model_, strategy_->optimized(), gradients, *optimizer_,
                                     strategy_->parameter_stores(), strategy_->leaves_are_masters());
    state.gradients = std::max(state.gradients, strategy_->most_gradient_bytes());
    annotations::count("memory parameters", static_cast<double>(state.parameters));
    annotations::count("memory gradients", static_cast<double>(state.gradients));
    annotations::count("memory optimizer", static_cast<double>(state.optimizer));
    if (placement_.rank != 0) return;
    const StateBytes theory = strategy_->theory(elements_);
    log_.memory(state, theory);
    memory_line_ = describe(state, theory);
  }

  // Of this rank's batch in this step, as large as uneven batches make it.
  double own_tokens() const {
    const auto& training = options_.training;
    double samples = 0;
    for (int microbatch = 0; microbatch < training.gradient_accumulation; ++microbatch)
      samples += training.batch_size * faults_.batch_factor(microbatch);
    return samples * static_cast<double>(options_.model.sequence_length);
  }

  std::int64_t tokens_per_step() const {
    return std::int64_t{options_.mode->place(options_, placement_.world_size, placement_.rank).replicas} *
           options_.training.batch_size * options_.training.gradient_accumulation *
           options_.model.sequence_length;
  }

  const Options& options_;
  const Placement& placement_;
  const ComputeDevice& device_;
  const Text& text_;
  RankFaults faults_;
  TextBatches batches_;
  TrainingLog& log_;
  ComputeLane lane_;
  int step_ = 1;
  std::int64_t elements_ = 0;  // of the model's parameters
  std::string memory_line_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<torch::optim::AdamW> optimizer_;
};

constexpr int kErrorsOnly = 2;

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
  const Result<ComputeDevice> device = open_device(options, placement);
  if (!device.ok()) return device.error();
  TrainingLog log;
  if (placement.rank == 0 && !options.log.empty()) {
    Result<TrainingLog> created = TrainingLog::create(options.log);
    if (!created.ok()) return created.error();
    log = std::move(created).value();
  }
  try {
    keep_memory();
    // c10d warns of what it throws as well, with stacks of frames: what is thrown becomes our message.
    if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = kErrorsOnly;
    at::set_num_threads(options.threads);
    at::set_num_interop_threads(1);
    Trainer trainer(options, placement, device.value(), text, std::move(sampler).value(), log);
    if (Status status = trainer.run(); !status.ok()) return status;
  } catch (const c10::Error& error) {
    return Error{"training stopped: " + without_source_places(error.what_without_backtrace())};
  } catch (const std::exception& error) {
    return Error{"training stopped: " + without_source_places(error.what())};
  }
  return log.close();
}

}  // namespace lockstep::trainer
