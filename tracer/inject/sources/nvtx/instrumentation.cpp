#include "tracer/inject/sources/nvtx/instrumentation.h"

#include <limits>

#include "base/numbers.h"

namespace lockstep::tracer::nvtx {

namespace {

constexpr unsigned kSequenceBits = 40;

bool is_number(const FieldValue& value) {
  return value.kind == trace::ArgumentType::int64 || value.kind == trace::ArgumentType::uint64;
}

std::size_t fields_needed(Meaning meaning) {
  switch (meaning) {
    case Meaning::step:
      return 1;
    case Meaning::compute:
    case Meaning::issue:
      return 2;
    case Meaning::group:
      return 3;
    case Meaning::collective:
      return 6;
    case Meaning::none:
      break;
  }
  return 0;
}

trace::Operation operation_from(std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(trace::Operation::send_recv)) return trace::Operation::unknown;
  return static_cast<trace::Operation>(number);
}

trace::DataType data_type_from(std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(trace::DataType::float8_e5m2)) return trace::DataType::unknown;
  return static_cast<trace::DataType>(number);
}

trace::Pass pass_from(std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(trace::Pass::optimizer)) return trace::Pass::other;
  return static_cast<trace::Pass>(number);
}

// A rank, a layer, a microbatch: -1 stands for none.
std::int32_t index_from(std::uint64_t bits) {
  const auto index = static_cast<std::int64_t>(bits);
  if (index < 0 || index > std::numeric_limits<std::int32_t>::max()) return -1;
  return static_cast<std::int32_t>(index);
}
static_assert(trace::kNoRank == -1);

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Meaning meaning_of_schema(std::string_view name) noexcept {
  if (name == "lockstep.step") return Meaning::step;
  if (name == "lockstep.compute") return Meaning::compute;
  if (name == "lockstep.group") return Meaning::group;
  if (name == "lockstep.issue") return Meaning::issue;
  if (name == "lockstep.collective") return Meaning::collective;
  return Meaning::none;
}

bool read_fields(Meaning meaning, std::span<const FieldValue> values, InstrumentationFields& fields) {
  const std::size_t needed = fields_needed(meaning);
  if (values.size() < needed) return false;
  for (std::size_t i = 0; i < needed; ++i) {
    const bool text_wanted = meaning == Meaning::group && i == 2;
    if (text_wanted ? values[i].kind != trace::ArgumentType::string : !is_number(values[i])) return false;
  }
  switch (meaning) {
    case Meaning::step:
      fields.step = static_cast<std::int64_t>(values[0].bits);
      break;
    case Meaning::group:
      fields.group = values[0].bits;
      fields.size = values[1].bits;
      fields.ranks = values[2].text;
      break;
    case Meaning::issue:
      fields.group = values[0].bits;
      fields.sequence = values[1].bits;
      break;
    case Meaning::collective:
      fields.group = values[0].bits;
      fields.sequence = values[1].bits;
      fields.bytes = values[2].bits;
      fields.operation = operation_from(values[3].bits);
      fields.data_type = data_type_from(values[4].bits);
      fields.peer = index_from(values[5].bits);
      break;
    case Meaning::compute:
      fields.layer = index_from(values[0].bits);
      fields.microbatch = index_from(values[1].bits);
      fields.pass =
          values.size() > 2 && is_number(values[2]) ? pass_from(values[2].bits) : trace::Pass::other;
      break;
    case Meaning::none:
      break;
  }
  return true;
}

std::optional<std::vector<std::int32_t>> parse_ranks(std::string_view text) {
  std::vector<std::int32_t> ranks;
  if (trim(text).empty()) return ranks;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trim(text.substr(0, comma));
    const auto rank = parse_number<std::int32_t>(part, 0);
    if (!rank) return std::nullopt;
    ranks.push_back(*rank);
    if (comma == std::string_view::npos) return ranks;
    text.remove_prefix(comma + 1);
  }
}

void Groups::declare(trace::Writer& writer, const InstrumentationFields& fields, std::string_view name) {
  const auto found = declared_.find(fields.group);
  if (found != declared_.end() && found->second.name == name) return;
  trace::Group group;
  group.name = name;
  // A list that can't be read leaves the ranks unknown; what it said stands in the description.
  std::optional<std::vector<std::int32_t>> ranks = parse_ranks(fields.ranks);
  if (ranks.has_value()) {
    group.ranks = *std::move(ranks);
  } else {
    group.description = "ranks: " + fields.ranks;
  }
  declared_[fields.group] = Declared{writer.add_group(group), std::string(name)};
}

std::optional<trace::GroupId> Groups::find(std::uint64_t number) const {
  const auto found = declared_.find(number);
  if (found == declared_.end()) return std::nullopt;
  return found->second.id;
}

trace::CorrelationId Groups::correlation(std::uint64_t number, std::uint64_t sequence) {
  const auto [position, is_new] = order_.try_emplace(number, order_.size());
  (void)is_new;
  return ((position->second + 1) << kSequenceBits) + sequence;
}

}  // namespace lockstep::tracer::nvtx
