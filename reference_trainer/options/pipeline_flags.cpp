#include "reference_trainer/options/flags.h"

namespace lockstep::trainer {

void add_pipeline_flags(CLI::App& app, PipelineOptions& pipeline) {
  app.add_option(
         "--pipeline-stages", pipeline.stages,
         "Ranks in a row (default: all); several rows train side by side, each on its share of the batch")
      ->check(whole_number(2, 1024))
      ->type_name("N")
      ->group(kPipelineGroup);
  add_choice(app, "--schedule", "In which order a stage takes its microbatches (--microbatches)",
             {{"gpipe", PipelineSchedule::gpipe},
              {"1f1b", PipelineSchedule::one_forward_one_backward},
              {"interleaved", PipelineSchedule::interleaved}},
             "1f1b", kPipelineGroup, pipeline.schedule);
  app.add_option(
         "--chunks", pipeline.chunks,
         "Interleaved: pieces of the model on each rank, which a microbatch visits in turns (default 2)")
      ->check(whole_number(1, 1000))
      ->type_name("N")
      ->group(kPipelineGroup);
  app.add_flag("--overlap-p2p-communication", pipeline.overlap_p2p,
               "Post each receive one pass earlier, so that it runs beneath compute (Megatron-LM's flag)")
      ->group(kPipelineGroup);
}

}  // namespace lockstep::trainer
