#include "reference_trainer/modes/zero/tests/zero_job.h"

namespace lockstep::trainer {

using nlohmann::json;

std::string ZeroJob::config(const json& zero) const {
  const std::string path = folder_.file("deepspeed.json");
  write_file(path, json{{"zero_optimization", zero}}.dump());
  return path;
}

std::vector<json> ZeroJob::heard_in_step_3(const json& zero, const Arguments& more) const {
  const Arguments job{"--deepspeed", config(zero), "--batch-size", "2", "--steps", "3"};
  return begun_in_step(heard(2, job + more)[0], 3);
}

bool is_of_zero(const json& line, const char* schema) {
  return line.value("schema", "") == schema && line.at("fields").at("group") == 1;
}

json stage_1_or_2(int stage, bool overlap) {
  return {{"stage", stage},
          {"overlap_comm", overlap},
          {"reduce_bucket_size", kLayer},
          {"allgather_bucket_size", 20000}};
}

json stage_3(const json& more) {
  json zero{{"stage", 3},
            {"reduce_bucket_size", kLayer},
            {"stage3_prefetch_bucket_size", 0},
            {"stage3_param_persistence_threshold", 0},
            {"stage3_max_reuse_distance", 0}};
  zero.update(more);
  return zero;
}

}  // namespace lockstep::trainer
