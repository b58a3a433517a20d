// What the tests of ZeRO share: a tiny model whose sizes are known, and DeepSpeed's configurations for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference_trainer/tests/small_job.h"

namespace lockstep::trainer {

// Elements of the model's parts: embedding 6144 + 384, a layer 7152, head 48 + 6144; S = 34176.
inline constexpr std::int64_t kEmbedding = 6528, kLayer = 7152, kHead = 6192;
inline constexpr std::int64_t kModel = kEmbedding + 3 * kLayer + kHead;

class ZeroJob : public SmallJob {
 protected:
  explicit ZeroJob(const std::string& hidden = "24")
      : SmallJob({"--layers", "3", "--hidden", hidden, "--heads", "2", "--sequence-length", "16"}) {}

  // A configuration of DeepSpeed's with this section "zero_optimization".
  std::string config(const nlohmann::json& zero) const;

  // What rank 0 told NVTX of step 3 of two ranks, when the order of the parts is known and used.
  std::vector<nlohmann::json> heard_in_step_3(const nlohmann::json& zero, const Arguments& more = {}) const;
};

// Whether a line of the listener is of the group "zero" and has this schema.
bool is_of_zero(const nlohmann::json& line, const char* schema);

// Buckets of one layer's size; 20000 elements at a time, of 34176, are gathered.
nlohmann::json stage_1_or_2(int stage, bool overlap);
// Neither prefetched nor kept, where `more` does not say otherwise.
nlohmann::json stage_3(const nlohmann::json& more = nlohmann::json::object());

}  // namespace lockstep::trainer
