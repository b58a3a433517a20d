#include "reference_trainer/logging/log.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reference_trainer/logging/configuration.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

// File names need not be UTF-8: bytes that are not become U+FFFD instead of an exception.
std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<TrainingLog> TrainingLog::create(const std::string& path) {
  TrainingLog log;
  log.path_ = path;
  log.file_.open(path, std::ios::binary | std::ios::trunc);
  if (!log.file_) return Error{fmt::format("--log '{}' cannot be written", path)};
  return log;
}

void TrainingLog::start(const Options& options, const StartRecord& record) {
  Json parameters = Json::array();
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  for (const StartRecord::Parameter& parameter : record.parameters) {
    parameters.push_back(
        {{"name", parameter.name}, {"elements", parameter.elements}, {"bytes", parameter.bytes}});
    elements += parameter.elements;
    bytes += parameter.bytes;
  }
  write(to_line(
      {{"event", "start"},
       {"schema", "lockstep.train/1"},
       {"world_size", record.world_size},
       {"configuration", flags_of(options, record.world_size)},
       {"deepspeed", deepspeed_of(options)},
       {"text",
        {{"source", record.text_source}, {"bytes", record.text_bytes}, {"sequences", record.sequences}}},
       {"times", options.device == Device::paced ? "modelled" : "measured"},
       {"parameter_count", elements},
       {"gradient_bytes", bytes},
       {"parameters", parameters}}));
}

void TrainingLog::buckets(int step, bool rebuilt, const std::vector<BucketRecord>& buckets) {
  Json list = Json::array();
  for (const BucketRecord& bucket : buckets) {
    list.push_back({{"bytes", bucket.bytes}, {"parameters", bucket.parameters}});
  }
  write(to_line(
      {{"event", "buckets"}, {"step", step}, {"when", rebuilt ? "rebuilt" : "initial"}, {"buckets", list}}));
}

void TrainingLog::step(const StepRecord& record) {
  Json line{{"event", "step"},
            {"step", record.step},
            {"loss", record.loss},
            {"gradient_norm", record.gradient_norm},
            {"tokens_per_second", record.tokens_per_second},
            {"seconds", record.seconds}};
  if (record.all_reduces) line["all_reduces"] = *record.all_reduces;
  if (record.all_reduce_bytes) line["all_reduce_bytes"] = *record.all_reduce_bytes;
  write(to_line(line));
}

void TrainingLog::memory(const StateBytes& measured, const StateBytes& theory) {
  const auto object = [](const StateBytes& state) {
    return Json{
        {"parameters", state.parameters}, {"gradients", state.gradients}, {"optimizer", state.optimizer}};
  };
  Json record{{"event", "memory"}, {"rank", 0}};
  record.update(object(measured));
  record["theory"] = object(theory);
  write(to_line(record));
}

void TrainingLog::write(const std::string& line) {
  if (file_.is_open()) file_ << line << std::flush;
}

Status TrainingLog::close() {
  if (path_.empty()) return {};
  file_.close();
  if (file_.fail())
    return Error{fmt::format("--log '{}' could not be written to the end: is the disk full?", path_)};
  return {};
}

std::string headline(const Options& options, const StartRecord& record) {
  std::int64_t elements = 0;
  for (const StartRecord::Parameter& parameter : record.parameters) elements += parameter.elements;
  return fmt::format(
      "{:.2f} million parameters in {} on {} {}{}; {} sequences of {} tokens from '{}'",
      static_cast<double>(elements) / 1e6, to_string(options.model.precision), record.world_size,
      record.world_size == 1 ? "rank" : "ranks",
      options.device == Device::paced ? " of a paced device (modelled times, not measured)" : "",
      record.sequences, options.model.sequence_length, record.text_source);
}

std::string progress_line(const StepRecord& record) {
  return fmt::format("step {}  loss {:.6f}  tokens/s {:.0f}  gradient norm {:.3f}  {:.0f} ms", record.step,
                     record.loss, record.tokens_per_second, record.gradient_norm, record.seconds * 1e3);
}

std::string divergence_message(const StepRecord& record) {
  return fmt::format(
      "step {}: loss {}, gradient norm {}: training diverged; use a smaller --learning-rate or "
      "--clip-grad-norm",
      record.step, record.loss, record.gradient_norm);
}

}  // namespace lockstep::trainer
