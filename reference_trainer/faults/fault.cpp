#include "reference_trainer/faults/fault.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

namespace lockstep::trainer {
namespace {

enum class Place : std::uint8_t { rank_needed, rank_or_all, stage_needed };

// One row a kind, in the order of FaultKind.
struct Grammar {
  const char* name;
  Place place;
  const char* amount;  // its key; null: none
  double usual, least, most;
  const char* what;
};

constexpr double kLongestMilliseconds = 3'600'000;  // an hour
constexpr double kLargestFactor = 1000;

constexpr std::array<Grammar, kFaultKinds> kGrammar{{
    {"slow_rank", Place::rank_needed, "factor", 2, 1, kLargestFactor,
     "the rank computes so many times as long"},
    {"slow_stage", Place::stage_needed, "factor", 2, 1, kLargestFactor,
     "the same for a stage of the pipeline"},
    {"slow_loader", Place::rank_or_all, "ms", 50, 0, kLongestMilliseconds, "its batches come so much later"},
    {"pause", Place::rank_or_all, "ms", 50, 0, kLongestMilliseconds,
     "it stops once a step, at a seeded place, as for garbage collection"},
    {"uneven_batch", Place::rank_or_all, "factor", 2, 1, kLargestFactor,
     "its samples are 1 to so many times as long, seeded"},
    {"delayed_launch", Place::rank_or_all, "us", 500, 0, 1000 * kLongestMilliseconds,
     "each computation starts so much later"},
    {"skip_collective", Place::rank_needed, nullptr, 0, 0, 0,
     "it leaves out a collective; the others wait in vain"},
    {"slow_link", Place::rank_or_all, "mbit", 100, 0.001, 1e6, "what it sends goes out at so many Mbit/s"},
}};

const Grammar& grammar_of(FaultKind kind) {
  return kGrammar[static_cast<std::size_t>(kind)];
}

const char* place_key(const Grammar& grammar) {
  return grammar.place == Place::stage_needed ? "stage" : "rank";
}

// "rank, factor, steps"
std::string keys_of(const Grammar& grammar) {
  std::string keys = place_key(grammar);
  if (grammar.amount != nullptr) keys += fmt::format(", {}", grammar.amount);
  return keys + ", steps";
}

std::string all_kinds() {
  std::vector<std::string_view> names;
  for (const Grammar& grammar : kGrammar) names.emplace_back(grammar.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

class Parser {
 public:
  explicit Parser(std::string_view specification) : specification_(specification) {}

  Result<Fault> parse() {
    const std::size_t colon = specification_.find(':');
    const std::string_view name = specification_.substr(0, colon);
    if (!find_kind(name))
      return wrong(fmt::format("there is no fault '{}'; known are {}", name, all_kinds()));
    fault_.amount = grammar().usual;
    if (colon != std::string_view::npos) {
      if (Status status = read_pairs(specification_.substr(colon + 1)); !status.ok()) return status.error();
    }
    if (!fault_.place && grammar().place != Place::rank_or_all) {
      return wrong(fmt::format("which {}? Give {}=N: {}:{}=1", place_key(grammar()), place_key(grammar()),
                               grammar().name, place_key(grammar())));
    }
    return fault_;
  }

 private:
  const Grammar& grammar() const { return grammar_of(fault_.kind); }

  Error wrong(const std::string& what) const {
    return {fmt::format("--fault '{}': {}", specification_, what)};
  }
  Error wrong_value(std::string_view key, std::string_view value, const std::string& allowed) const {
    return wrong(fmt::format("{}='{}' must be {}", key, value, allowed));
  }

  bool find_kind(std::string_view name) {
    for (std::size_t i = 0; i < kGrammar.size(); ++i) {
      if (name != kGrammar[i].name) continue;
      fault_.kind = static_cast<FaultKind>(i);
      return true;
    }
    return false;
  }

  Status read_pairs(std::string_view pairs) {
    while (true) {
      const std::size_t comma = pairs.find(',');
      const std::string_view pair = pairs.substr(0, comma);
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos)
        return wrong(fmt::format("'{}' is not KEY=VALUE; the keys are {}", pair, keys_of(grammar())));
      if (Status status = read(pair.substr(0, equals), pair.substr(equals + 1)); !status.ok()) return status;
      if (comma == std::string_view::npos) return {};
      pairs.remove_prefix(comma + 1);
    }
  }

  Status read(std::string_view key, std::string_view value) {
    if (key == place_key(grammar())) return once(key, place_seen_, [&] { return read_place(key, value); });
    if (grammar().amount != nullptr && key == grammar().amount)
      return once(key, amount_seen_, [&] { return read_amount(key, value); });
    if (key == "steps") return once(key, steps_seen_, [&] { return read_steps(key, value); });
    return wrong(fmt::format("{} has no key '{}'; its keys are {}", grammar().name, key, keys_of(grammar())));
  }

  template <class Read>
  Status once(std::string_view key, bool& seen, const Read& read) {
    if (seen) return wrong(fmt::format("{} is given twice", key));
    seen = true;
    return read();
  }

  Status read_place(std::string_view key, std::string_view value) {
    int place = 0;
    if (!parse_number(value, place) || place < 0)
      return wrong_value(key, value, "a whole number from 0, the first");
    fault_.place = place;
    return {};
  }

  Status read_amount(std::string_view key, std::string_view value) {
    double amount = 0;
    // Written so that nan is refused.
    if (!parse_number(value, amount) || !(amount >= grammar().least && amount <= grammar().most))
      return wrong_value(key, value, fmt::format("a number from {} to {}", grammar().least, grammar().most));
    fault_.amount = amount;
    return {};
  }

  Status read_steps(std::string_view key, std::string_view value) {
    const std::size_t dash = value.find('-');
    const bool one = dash == std::string_view::npos;
    if (!parse_number(value.substr(0, dash), fault_.first_step) ||
        !parse_number(one ? value : value.substr(dash + 1), fault_.last_step) || fault_.first_step < 1 ||
        fault_.last_step < fault_.first_step) {
      return wrong_value(key, value, "A-B, or A alone: whole numbers, 1 the first step, B not before A");
    }
    return {};
  }

  std::string_view specification_;
  Fault fault_;
  bool place_seen_ = false, amount_seen_ = false, steps_seen_ = false;
};

}  // namespace

Result<Fault> parse_fault(std::string_view specification) {
  return Parser(specification).parse();
}

const char* to_string(FaultKind kind) {
  return grammar_of(kind).name;
}

std::string to_string(const Fault& fault) {
  const Grammar& grammar = grammar_of(fault.kind);
  std::vector<std::string> pairs;
  if (fault.place) pairs.push_back(fmt::format("{}={}", place_key(grammar), *fault.place));
  if (grammar.amount != nullptr) pairs.push_back(fmt::format("{}={}", grammar.amount, fault.amount));
  if (fault.first_step != Fault{}.first_step || fault.last_step != Fault{}.last_step)
    pairs.push_back(fmt::format("steps={}-{}", fault.first_step, fault.last_step));
  return pairs.empty() ? grammar.name : fmt::format("{}:{}", grammar.name, fmt::join(pairs, ","));
}

Status check_fault(const Fault& fault, int world_size, int stages) {
  const bool stage = grammar_of(fault.kind).place == Place::stage_needed;
  const int count = stage ? stages : world_size;
  const auto wrong = [&fault](const std::string& what) {
    return Error{fmt::format("--fault {}: {}", to_string(fault), what)};
  };
  if (stage && stages <= 1) return wrong("this job has no pipeline");
  if (fault.place && *fault.place >= count)
    return wrong(fmt::format("{}={}: the job's {}s are 0 to {}", stage ? "stage" : "rank", *fault.place,
                             stage ? "stage" : "rank", count - 1));
  const bool needs_others = fault.kind == FaultKind::skip_collective || fault.kind == FaultKind::slow_link;
  if (needs_others && world_size == 1)
    return wrong("one rank has nobody to communicate with; give --ranks N");
  return {};
}

std::string describe_faults() {
  std::string text;
  for (const Grammar& grammar : kGrammar) {
    const std::string place = grammar.place == Place::rank_or_all ? "[rank]" : place_key(grammar);
    const std::string amount =
        grammar.amount == nullptr ? "" : fmt::format(", {} ({})", grammar.amount, grammar.usual);
    text += fmt::format("  {:<16} {:<22} {}\n", grammar.name, place + amount, grammar.what);
  }
  return text;
}

}  // namespace lockstep::trainer
