#include <limits>

#include "reference_trainer/options/flag_kinds.h"
#include "reference_trainer/options/flags.h"

namespace lockstep::trainer {

void add_model_flags(CLI::App& app, ModelOptions& model) {
  const char* group = "Model";
  add_choice(app, "--model", "Kind of layers", {{"gpt2", Architecture::gpt2}, {"llama", Architecture::llama}},
             "gpt2", group, model.architecture);
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
  app.add_option("--kv-heads", model.kv_heads,
                 "llama: key and value heads, shared by the attention heads (default: a quarter of them)")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->group(group);
  app.add_option("--intermediate-size", model.intermediate_size,
                 "llama: width inside of the SwiGLU (default: 8/3 of --hidden, a multiple of 16)")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->group(group);
  app.add_option("--sequence-length", model.sequence_length, "Tokens (bytes) in a sequence")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  add_choice(
      app, "--dtype", "What is computed in; bfloat16 keeps float32 masters of the weights",
      {{"float32", Precision::float32}, {"float64", Precision::float64}, {"bfloat16", Precision::bfloat16}},
      "float32", group, model.precision);
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
  app.add_option("--gradient-accumulation,--microbatches", training.gradient_accumulation,
                 "Batches per step; gradients are reduced in the last one alone")
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
  app.add_flag("--activation-checkpointing", training.activation_checkpointing,
               "Keep each layer's input alone; backward computes its forward once more")
      ->group(group);
}

}  // namespace lockstep::trainer
