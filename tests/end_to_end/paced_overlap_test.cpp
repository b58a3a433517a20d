// What overlap the analyzer measures on the paced device is what the model of that device says: compute of a
// known length, a link of a known rate, and the schedule of DistributedDataParallel or
// FullyShardedDataParallel worked out beside it by a few lines of arithmetic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "tests/end_to_end/paced_job.h"
#include "tests/end_to_end/undisturbed.h"

namespace lockstep {
namespace {

using end_to_end::binary;
using end_to_end::Outcome;
using end_to_end::TemporaryFolder;
using nlohmann::json;

constexpr int kLayers = 6;
constexpr double kForward = 0.060, kBackward = 2 * kForward;  // seconds
constexpr int kSteps = 5;

struct Span {
  double begin = 0, end = 0;
};

// One rank: a host that computes and one communication stream. All ranks are alike, so nobody waits.
class Model {
 public:
  double now() const { return host_; }
  void compute(double seconds) {
    computing_.push_back({host_, host_ + seconds});
    host_ += seconds;
  }
  // Returns when it is done.
  double communicate(double seconds) {
    const double begin = std::max(host_, stream_);
    stream_ = begin + seconds;
    communicating_.push_back({begin, stream_});
    return stream_;
  }
  void wait(double until) { host_ = std::max(host_, until); }
  void wait_for_all() { wait(stream_); }

  double communication() const { return length(communicating_); }
  double overlap() const {
    double sum = 0;
    for (const Span& a : communicating_) {
      for (const Span& b : computing_)
        sum += std::max(0.0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
    }
    return sum;
  }

 private:
  static double length(const std::vector<Span>& spans) {
    return std::accumulate(spans.begin(), spans.end(), 0.0,
                           [](double sum, const Span& span) { return sum + span.end - span.begin; });
  }
  double host_ = 0, stream_ = 0;
  std::vector<Span> computing_, communicating_;
};

struct Measured {
  double communication = 0, overlap = 0;  // seconds in one step, of all ranks together
  double ratio() const { return overlap / communication; }
  double exposed() const { return communication - overlap; }
};

class Paced : public testing::Test {
 protected:
  // Trains on two ranks, recorded; the log is read into `log`. Times are those of pace 1.
  std::vector<Measured> measure(int pace, double bandwidth, const std::vector<std::string>& more) {
    std::vector<std::string> flags{"--bandwidth", fmt::format("{}", bandwidth / pace), "--log",
                                   folder_ / "log"};
    flags.insert(flags.end(), more.begin(), more.end());
    const Outcome trained = end_to_end::record_paced(
        {.ranks = 2, .layers = kLayers, .steps = kSteps, .forward_seconds = pace * kForward}, folder_ / "run",
        flags);
    EXPECT_EQ(trained.exit_code, 0) << trained.standard_error;
    const Outcome analyzed = end_to_end::run({binary("lockstep"), "analyze", folder_ / "run", "--json", "-"});
    EXPECT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
    std::map<int, Measured> steps;
    const json report = json::parse(analyzed.standard_output);
    for (const json& step : report.at("steps")) {
      Measured& measured = steps[step.at("step")];
      measured.communication += 1e-9 / pace * step.at("communication_ns").get<double>();
      measured.overlap += 1e-9 / pace * step.at("overlap_ns").get<double>();
    }
    steps.erase(1);  // its buckets are others, and it sets everything up
    std::vector<Measured> list;
    for (const auto& [step, measured] : steps) list.push_back(measured);
    if (list.size() != kSteps - 1) throw std::runtime_error("the report has not the steps that were run");
    return list;
  }

  // Names of the parameters in each bucket, as rebuilt, and the bucket's bytes.
  std::vector<json> buckets() const {
    std::vector<json> last;
    std::ifstream log(folder_ / "log");
    for (std::string line; std::getline(log, line);) {
      const json event = json::parse(line);
      if (event.at("event") == "buckets") last = event.at("buckets").get<std::vector<json>>();
    }
    return last;
  }

  // What was measured, as a multiple of what the model says.
  struct Comparison {
    const char* what;
    double ratio;
    double tolerance;
  };
  void expect_near(const std::function<std::vector<Comparison>(int pace)>& compare) {
    std::vector<Comparison> all;
    const bool near = end_to_end::Undisturbed::at_some_pace([&](int pace) {
      all = compare(pace);
      RecordProperty("pace", pace);
      return std::all_of(all.begin(), all.end(),
                         [](const Comparison& one) { return std::abs(one.ratio - 1) <= one.tolerance; });
    });
    for (const Comparison& one : all) {
      RecordProperty(one.what, fmt::format("{:.4f}", one.ratio));
      if (!near && !undisturbed_.disturbance().empty())
        GTEST_SKIP() << one.what << " is " << one.ratio << " times the model's, but "
                     << undisturbed_.disturbance();
      EXPECT_NEAR(one.ratio, 1, one.tolerance) << one.what;
    }
  }

  end_to_end::Undisturbed undisturbed_;
  TemporaryFolder folder_;
};

// A loaded machine only delays, now one step and now another: the middle one stands for them.
template <class Value>
double median(const std::vector<Measured>& steps, const Value& value) {
  std::vector<double> values;
  for (const Measured& step : steps) values.push_back(value(step));
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class PacedBuckets : public Paced, public testing::WithParamInterface<double> {
 protected:
  static constexpr double kBandwidth = 0.8e6;  // bytes a second: a layer's 50 kB take half of its backward

  // Gradients of a layer are ready when its backward is over, those of the head before all layers', those of
  // the embeddings after.
  static Model model(const std::vector<json>& buckets) {
    Model model;
    for (int i = 0; i < kLayers; ++i) model.compute(kForward);
    std::size_t next = 0;
    for (int done = 0; done <= kLayers; ++done) {
      const bool everything = done == kLayers;
      for (; next < buckets.size(); ++next) {
        const auto ready = [&](const json& name) {
          const std::string text = name;
          if (text.starts_with("head") || text.starts_with("final_norm")) return true;
          return everything || (text.starts_with("layer_") && kLayers - std::stoi(text.substr(6)) <= done);
        };
        const json& names = buckets[next].at("parameters");
        if (!std::all_of(names.begin(), names.end(), ready)) break;
        // A ring of two sends 2 · (2 − 1)/2 of the bytes.
        model.communicate(buckets[next].at("bytes").get<double>() / kBandwidth);
      }
      if (!everything) model.compute(kBackward);
    }
    EXPECT_EQ(next, buckets.size());
    model.wait_for_all();
    return model;
  }
};

TEST_P(PacedBuckets, OverlapRatioIsTheModels) {
  expect_near([this](int pace) -> std::vector<Comparison> {
    const std::vector<Measured> steps = measure(
        pace, kBandwidth, {"--bucket-cap-mb", fmt::format("{}", GetParam()), "--first-bucket-mb", "0.02"});
    const Model expected = model(buckets());
    const double ratio = expected.overlap() / expected.communication();
    EXPECT_GT(ratio, 0.05);
    EXPECT_LT(ratio, 0.95);
    RecordProperty("overlap_ratio_of_the_model", fmt::format("{:.4f}", ratio));
    return {{"overlap_ratio", median(steps, [](const Measured& m) { return m.ratio(); }) / ratio, 0.02}};
  });
}

// In MiB: one layer a bucket, two, and three.
INSTANTIATE_TEST_SUITE_P(Sizes, PacedBuckets, testing::Values(0.04, 0.09, 0.15), [](const auto& info) {
  return fmt::format("{}KiB", static_cast<int>(info.param * 1024));
});

// 12,608 parameters in a layer, 16,960 in what is around the layers, of which each rank holds half.
constexpr double kLayerBytes = 12'608 * 4, kRootBytes = 16'960 * 4;

class PacedFsdp : public Paced {
 protected:
  static constexpr double kBandwidth = 0.5e6;  // a ring of two sends half of a layer's bytes: 50 ms
  static double transfer(double bytes) { return bytes / 2 / kBandwidth; }

  // Issue order as in libtorch: fully_sharded.h.
  static Model model(bool prefetch) {
    Model model;
    model.wait(model.communicate(transfer(kRootBytes)));
    for (int layer = 0; layer < kLayers; ++layer) {
      model.wait(model.communicate(transfer(kLayerBytes)));
      model.compute(kForward);
    }
    double gathered = prefetch ? model.communicate(transfer(kLayerBytes)) : 0;
    for (int layer = kLayers - 1; layer >= 0; --layer) {
      model.wait(prefetch ? gathered : model.communicate(transfer(kLayerBytes)));
      if (prefetch && layer > 0) gathered = model.communicate(transfer(kLayerBytes));
      model.compute(kBackward);
      model.communicate(transfer(kLayerBytes));
    }
    model.communicate(transfer(kRootBytes));
    model.wait_for_all();
    return model;
  }
  // Of one of the two ranks. A loaded machine only adds to it.
  double exposed(int pace, const char* prefetch) {
    double least = std::numeric_limits<double>::infinity();
    for (const Measured& step :
         measure(pace, kBandwidth, {"--mode", "fsdp", "--backward-prefetch", prefetch}))
      least = std::min(least, step.exposed() / 2);
    return least;
  }
  static double expected(bool prefetch) {
    const Model result = model(prefetch);
    return result.communication() - result.overlap();
  }
};

TEST_F(PacedFsdp, PrefetchHidesWhatTheModelSays) {
  // Hidden are five of the six gathers of backward, and the five reduce-scatters that stood before them in
  // the stream, when the host waited for the gather.
  EXPECT_NEAR(expected(false) - expected(true), 10 * transfer(kLayerBytes), 1e-9);
  expect_near([this](int pace) -> std::vector<Comparison> {
    const double none = exposed(pace, "none"), pre = exposed(pace, "pre");
    return {{"exposed_without_prefetch", none / expected(false), 0.03},
            {"exposed_with_prefetch", pre / expected(true), 0.03},
            {"hidden_by_prefetch", (none - pre) / (expected(false) - expected(true)), 0.05}};
  });
}

}  // namespace
}  // namespace lockstep
