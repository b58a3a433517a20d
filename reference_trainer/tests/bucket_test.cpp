// The buckets and all-reduces that the trainer reports against the rule that DistributedDataParallel
// documents, written here a second time and without libtorch.
#include <gtest/gtest.h>

#include <map>
#include <ostream>

#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

constexpr int kLayers = 4;

struct Gradient {
  std::string name;
  std::int64_t bytes = 0;
};
using BucketList = std::vector<std::vector<std::string>>;

// A gradient goes into the open bucket; a bucket that has reached its limit is closed. The first bucket has a
// limit of its own; the last one holds what is left.
BucketList predict(const std::vector<Gradient>& in_ready_order, std::int64_t first_limit,
                   std::int64_t limit) {
  BucketList buckets;
  std::int64_t open_bytes = 0;
  bool open = false;
  for (const Gradient& gradient : in_ready_order) {
    if (!open) buckets.emplace_back();
    open = true;
    buckets.back().push_back(gradient.name);
    open_bytes += gradient.bytes;
    if (open_bytes >= (buckets.size() == 1 ? first_limit : limit)) {
      open = false;
      open_bytes = 0;
    }
  }
  return buckets;
}

// The order in which backward makes the gradients, by autograd's rule: what was computed last comes first; of
// the inputs of one operation, a bias before the weight that had to be transposed, and a norm's weight before
// its bias.
std::vector<std::string> ready_order() {
  std::vector<std::string> names{"head.weight", "final_norm.weight", "final_norm.bias"};
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    for (const char* part :
         {"mlp_output.bias", "mlp_output.weight", "mlp_input.bias", "mlp_input.weight", "mlp_norm.weight",
          "mlp_norm.bias", "attention_output.bias", "attention_output.weight", "query_key_value.weight",
          "attention_norm.weight", "attention_norm.bias"}) {
      names.push_back("layer_" + std::to_string(layer) + "." + part);
    }
  }
  names.push_back("position_embedding.weight");
  names.push_back("token_embedding.weight");
  return names;
}

struct Limits {
  const char* first_mb;
  const char* cap_mb;
  std::int64_t first_bytes;
  std::int64_t cap_bytes;
  std::size_t buckets;  // worked out by hand, as a check on predict()
};

// What test names show of it.
void PrintTo(const Limits& limits, std::ostream* stream) {
  *stream << "first " << limits.first_mb << " MiB, then " << limits.cap_mb << " MiB";
}

class Buckets : public ::testing::TestWithParam<Limits> {};

TEST_P(Buckets, AllReducesFollowTheRule) {
  const Limits& limits = GetParam();
  const TemporaryFolder folder;
  write_file(folder.file("text"), sample_text());
  TrainerProcess process({"--ranks",
                          "2",
                          "--layers",
                          std::to_string(kLayers),
                          "--hidden",
                          "128",
                          "--heads",
                          "2",
                          "--sequence-length",
                          "16",
                          "--batch-size",
                          "1",
                          "--steps",
                          "3",
                          "--bucket-cap-mb",
                          limits.cap_mb,
                          "--first-bucket-mb",
                          limits.first_mb,
                          "--data",
                          folder.file("text"),
                          "--log",
                          folder.file("log")});
  ASSERT_EQ(process.wait(), 0) << process.errors();
  const std::vector<json> lines = read_json_lines(folder.file("log"));

  const json start = events(lines, "start").at(0);
  std::map<std::string, std::int64_t> bytes;
  std::int64_t all_bytes = 0;
  for (const json& parameter : start.at("parameters")) {
    bytes[parameter.at("name")] = parameter.at("bytes");
    all_bytes += parameter.at("bytes").get<std::int64_t>();
  }
  std::vector<Gradient> gradients;
  for (const std::string& name : ready_order()) gradients.push_back({name, bytes.at(name)});
  ASSERT_EQ(gradients.size(), bytes.size());
  const BucketList predicted = predict(gradients, limits.first_bytes, limits.cap_bytes);
  ASSERT_EQ(predicted.size(), limits.buckets);

  const std::vector<json> reported = events(lines, "buckets");
  ASSERT_EQ(reported.size(), 2u);
  EXPECT_EQ(reported[0].at("when"), "initial");
  EXPECT_EQ(reported[0].at("step"), 1);
  ASSERT_EQ(reported[0].at("buckets").size(), 1u);
  EXPECT_EQ(reported[0].at("buckets")[0].at("bytes"), all_bytes);
  EXPECT_EQ(reported[1].at("when"), "rebuilt");
  EXPECT_EQ(reported[1].at("step"), 2);
  BucketList rebuilt;
  for (const json& bucket : reported[1].at("buckets")) {
    rebuilt.push_back(bucket.at("parameters").get<std::vector<std::string>>());
    std::int64_t sum = 0;
    for (const std::string& name : rebuilt.back()) sum += bytes.at(name);
    EXPECT_EQ(bucket.at("bytes"), sum);
  }
  EXPECT_EQ(rebuilt, predicted);

  const std::vector<json> steps = events(lines, "step");
  ASSERT_EQ(steps.size(), 3u);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].at("all_reduces"), i == 0 ? 1 : predicted.size()) << "step " << i + 1;
    EXPECT_EQ(steps[i].at("all_reduce_bytes"), all_bytes) << "step " << i + 1;
  }
  EXPECT_EQ(start.at("gradient_bytes"), all_bytes);
}

// A layer has 12 · 128² + 10 · 128 weights, 791,552 bytes; head and token embedding have 131,072 bytes each,
// positions 8,192 and the final norm 1,024: 3,437,568 in all. With limits of 1 MiB the buckets hold
// 1,186,304, 1,055,744, 1,055,232 and 140,288 bytes.
INSTANTIATE_TEST_SUITE_P(
    Limits, Buckets,
    ::testing::Values(Limits{"1", "1", 1 << 20, 1 << 20, 4}, Limits{"1", "25", 1 << 20, 25 << 20, 2},
                      Limits{"0.25", "0.5", 1 << 18, 1 << 19, 7}, Limits{"25", "25", 25 << 20, 25 << 20, 1}),
    [](const auto& info) {
      return "Case" + std::to_string(info.index) + "With" + std::to_string(info.param.buckets);
    });

}  // namespace
}  // namespace lockstep::trainer
