#include "analyzer/import/rank/training_mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/numbers.h"

namespace lockstep::analyzer {
namespace {

constexpr std::string_view kPrefix = "lockstep.training ";
// More parameters than that, or bytes of one, nobody has; products of two fit into 64 bits.
constexpr std::int64_t kMost = std::int64_t{1} << 50;
constexpr std::int64_t kMaxEach = 1 << 12;
constexpr std::int64_t kMaxRanks = 1 << 24;
constexpr std::size_t kMaxWrong = 4;  // words of a mark: what has more is something else

struct Key {
  std::string_view name;
  std::optional<std::int64_t> TrainingSetup::*member;
  std::int64_t most;
};

constexpr Key kKeys[] = {
    {"parameters", &TrainingSetup::parameters, kMost},
    {"parameter_bytes", &TrainingSetup::parameter_bytes, kMaxEach},
    {"gradient_bytes", &TrainingSetup::gradient_bytes, kMaxEach},
    {"optimizer_bytes", &TrainingSetup::optimizer_bytes, kMaxEach},
    {"data_parallel", &TrainingSetup::data_parallel, kMaxRanks},
    {"parameters_over", &TrainingSetup::parameters_over, kMaxRanks},
    {"gradients_over", &TrainingSetup::gradients_over, kMaxRanks},
    {"optimizer_over", &TrainingSetup::optimizer_over, kMaxRanks},
    {"gathers", &TrainingSetup::gathers, kMaxRanks},
    {"reductions", &TrainingSetup::reductions, kMaxRanks},
    {"samples", &TrainingSetup::samples, kMaxRanks},
    {"accumulation", &TrainingSetup::accumulation, kMaxRanks},
};

// What is wrong with one "key=value"; empty if nothing is.
std::string take(std::string_view word, TrainingSetup& setup, std::optional<std::int64_t>& zero_stage) {
  const std::size_t sign = word.find('=');
  if (sign == std::string_view::npos) return fmt::format("\"{}\" is not key=value", word);
  const std::string_view name = word.substr(0, sign), value = word.substr(sign + 1);
  if (name == "zero_stage") {
    zero_stage = parse_number<std::int64_t>(value, 0, 3);
    return zero_stage ? "" : fmt::format("zero_stage is \"{}\", not 0, 1, 2 or 3", value);
  }
  const auto* const key =
      std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Key& one) { return one.name == name; });
  if (key == std::end(kKeys)) return fmt::format("there is no key \"{}\"", name);
  const bool may_be_none =
      key->member == &TrainingSetup::gathers || key->member == &TrainingSetup::optimizer_bytes;
  const std::optional<std::int64_t> read = parse_number<std::int64_t>(value, may_be_none ? 0 : 1, key->most);
  if (!read) return fmt::format("{} is \"{}\", not a whole number up to {}", name, value, key->most);
  setup.*(key->member) = read;
  return {};
}

}  // namespace

bool is_training_mark(std::string_view name) {
  return name.starts_with(kPrefix);
}

void take_training_mark(std::string_view name, RankImport& import) {
  TrainingSetup setup;
  std::optional<std::int64_t> zero_stage;
  std::string_view rest = name.substr(std::min(kPrefix.size(), name.size()));
  std::size_t wrong_words = 0;
  while (!rest.empty() && wrong_words < kMaxWrong) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.empty()) continue;
    const std::string wrong = take(word, setup, zero_stage);
    if (wrong.empty()) continue;
    ++wrong_words;
    import.warn(
        "training_mark_unreadable",
        fmt::format(
            "{}: the mark \"lockstep.training\": {} (docs/instrumentation.md lists what may stand there)",
            import.trace.file, wrong));
  }
  if (zero_stage && setup.data_parallel) {
    const auto over = [&](std::int64_t from) { return *zero_stage >= from ? *setup.data_parallel : 1; };
    if (!setup.optimizer_over) setup.optimizer_over = over(1);
    if (!setup.gradients_over) setup.gradients_over = over(2);
    if (!setup.parameters_over) setup.parameters_over = over(3);
  }
  import.trace.training = setup;
}

}  // namespace lockstep::analyzer
