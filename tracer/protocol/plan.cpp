#include "tracer/protocol/plan.h"

#include <algorithm>
#include <charconv>

#include "base/numbers.h"
#include "tracer/protocol/source_table.h"

namespace lockstep::tracer::control {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongest = std::int64_t{10} * 366 * 24 * 3600 * kSecond;
constexpr std::size_t kFractionDigits = 9;

bool remove_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Reads variables into a plan; what can't be understood is noted and ignored: a job is not kept from running
// by what a tool was told.
class Reading {
 public:
  Reading(const std::function<const char*(const char*)>& lookup, Plan& plan) : lookup_(lookup), plan_(plan) {}

  // `parse` returns an optional; `set` takes its value.
  template <class Parse, class Set>
  void read(const char* name, Parse parse, Set set) {
    const char* const text = lookup_(name);
    if (text == nullptr || text[0] == '\0') return;
    if (const auto value = parse(std::string_view(text))) {
      set(*value);
    } else {
      plan_.problems.push_back(std::string(name) + "=" + text + " is not understood");
    }
  }

 private:
  const std::function<const char*(const char*)>& lookup_;
  Plan& plan_;
};

}  // namespace

std::optional<StepRange> parse_steps(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (text.empty() || text == ":") return std::nullopt;
  StepRange range;
  const auto read = [](std::string_view word, std::int64_t& number) {
    if (word.empty()) return true;
    const auto value = parse_number<std::int64_t>(word);
    number = value.value_or(0);
    return value.has_value() && number >= 0;  // steps are counted from 0
  };
  if (!read(text.substr(0, colon), range.first)) return std::nullopt;
  if (colon == std::string_view::npos) {
    range.last = range.first;
  } else if (!read(text.substr(colon + 1), range.last)) {
    return std::nullopt;
  }
  if (range.first > range.last) return std::nullopt;
  return range;
}

std::string to_string(const StepRange& steps) {
  if (steps.first == steps.last) return std::to_string(steps.first);
  std::string text;
  if (steps.first != StepRange{}.first) text += std::to_string(steps.first);
  text += ':';
  if (steps.last != StepRange{}.last) text += std::to_string(steps.last);
  return text;
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  std::int64_t unit = kSecond;
  if (remove_suffix(text, "ms")) {
    unit = kSecond / 1000;
  } else if (remove_suffix(text, "m")) {
    unit = 60 * kSecond;
  } else if (remove_suffix(text, "h")) {
    unit = 3600 * kSecond;
  } else {
    remove_suffix(text, "s");
  }
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view("0") : text.substr(point + 1);
  if (!all_digits(whole) || !all_digits(fraction) || fraction.size() > kFractionDigits) return std::nullopt;
  const auto units = parse_number<std::int64_t>(whole);
  if (!units.has_value() || *units > kLongest / unit) return std::nullopt;
  __extension__ using Wide = __int128;
  Wide part = parse_number<std::int64_t>(fraction).value_or(0);
  part *= unit;
  for (std::size_t i = 0; i < fraction.size(); ++i) part /= 10;
  return *units * unit + static_cast<std::int64_t>(part);
}

std::string to_seconds(std::int64_t nanoseconds) {
  std::string fraction = std::to_string(nanoseconds % kSecond);
  fraction.insert(0, kFractionDigits - fraction.size(), '0');
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  const std::string whole = std::to_string(nanoseconds / kSecond);
  return fraction.empty() ? whole : whole + "." + fraction;
}

std::optional<std::uint64_t> parse_size(std::string_view text, std::uint64_t unit) {
  struct Unit {
    std::string_view suffix;
    std::uint64_t bytes;
  };
  constexpr std::uint64_t kKilo = 1000;
  constexpr std::uint64_t kKibi = 1024;
  constexpr std::array kUnits{Unit{"KiB", kKibi},
                              Unit{"MiB", kKibi * kKibi},
                              Unit{"GiB", kKibi * kKibi * kKibi},
                              Unit{"TiB", kKibi * kKibi * kKibi * kKibi},
                              Unit{"kB", kKilo},
                              Unit{"KB", kKilo},
                              Unit{"MB", kKilo * kKilo},
                              Unit{"GB", kKilo * kKilo * kKilo},
                              Unit{"TB", kKilo * kKilo * kKilo * kKilo},
                              Unit{"K", kKilo},
                              Unit{"M", kKilo * kKilo},
                              Unit{"G", kKilo * kKilo * kKilo},
                              Unit{"T", kKilo * kKilo * kKilo * kKilo}};
  bool has_unit = false;
  for (const Unit& known : kUnits) {
    if (!remove_suffix(text, known.suffix)) continue;
    unit = known.bytes;
    has_unit = true;
    while (remove_suffix(text, " ")) {
    }
    break;
  }
  const std::size_t point = has_unit ? text.find('.') : std::string_view::npos;
  const std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
  const auto whole = parse_number<std::uint64_t>(text.substr(0, point));
  if (!all_digits(text.substr(0, point)) || !whole.has_value() || !all_digits(fraction) ||
      fraction.size() > kFractionDigits || *whole > (UINT64_MAX >> 1U) / unit - 1)
    return std::nullopt;
  __extension__ using Wide = unsigned __int128;
  Wide part = parse_number<std::uint64_t>(fraction).value_or(0);
  part *= unit;
  for (std::size_t i = 0; i < fraction.size(); ++i) part /= 10;
  const std::uint64_t bytes = *whole * unit + static_cast<std::uint64_t>(part);
  return bytes != 0 ? std::optional(bytes) : std::nullopt;
}

namespace {

// The first name of the list, without the blanks around it; the list becomes what follows. False behind the
// last.
bool next_name(std::optional<std::string_view>& list, std::string_view& name) {
  if (!list.has_value()) return false;
  const std::size_t comma = list->find(',');
  name = list->substr(0, comma);
  const std::size_t begin = std::min(name.find_first_not_of(' '), name.size());
  name = name.substr(begin, name.find_last_not_of(' ') + 1 - begin);
  list = comma == std::string_view::npos ? std::nullopt : std::optional(list->substr(comma + 1));
  return true;
}

}  // namespace

std::optional<std::string> unknown_source(std::string_view list) {
  std::optional<std::string_view> rest = list;
  for (std::string_view name; next_name(rest, name);) {
    if (find_source(name) == nullptr) return std::string(name);
  }
  return std::nullopt;
}

bool names_source(std::string_view list, std::string_view wanted) {
  std::optional<std::string_view> rest = list;
  for (std::string_view name; next_name(rest, name);) {
    if (name == wanted) return true;
  }
  return false;
}

std::optional<bool> parse_flag(std::string_view text) {
  return text == "1" ? std::optional(true) : text == "0" ? std::optional(false) : std::nullopt;
}

std::optional<double> parse_factor(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value.has_value() && *value > 1 ? value : std::nullopt;
}

Plan plan_from(const std::function<const char*(const char*)>& lookup) {
  Plan plan;
  Reading reading(lookup, plan);
  const auto set = [](auto& field) { return [&field](auto value) { field = value; }; };
  reading.read("LOCKSTEP_STEPS", parse_steps, set(plan.steps));
  const auto parse_time = [](std::string_view text) { return parse_number<std::int64_t>(text); };
  reading.read("LOCKSTEP_START", parse_time, set(plan.start_realtime));
  reading.read("LOCKSTEP_DELAY", parse_duration, set(plan.delay_ns));
  reading.read("LOCKSTEP_DURATION", parse_duration, set(plan.duration_ns));
  const auto parse_bytes = [](std::string_view text) { return parse_size(text, 1); };
  reading.read("LOCKSTEP_MAX_SIZE", parse_bytes, set(plan.max_bytes));
  reading.read("LOCKSTEP_RING", parse_duration, set(plan.ring_ns));
  plan.ring_memory = kDefaultRingMemory;
  reading.read("LOCKSTEP_RING_MEMORY", parse_bytes,
               [&](std::uint64_t bytes) { plan.ring_memory = std::max(bytes, kLeastRingMemory); });
  reading.read("LOCKSTEP_RING_FACTOR", parse_factor, set(plan.ring_factor));
  reading.read(
      "LOCKSTEP_HANG_TIMEOUT",
      [](std::string_view text) {
        return text == "off" ? std::optional<std::int64_t>(0) : parse_duration(text);
      },
      set(plan.hang_timeout_ns));
  reading.read("LOCKSTEP_SURVIVE_KILL", parse_flag, set(plan.survive_kill));
  return plan;
}

std::vector<std::pair<std::string, std::string>> to_environment(const Plan& plan) {
  std::vector<std::pair<std::string, std::string>> variables;
  // All of them, empty where nothing was asked for: what was left over from elsewhere must not count.
  const auto seconds = [](std::int64_t time) { return time > 0 ? to_seconds(time) : std::string(); };
  const auto number = [](auto value) { return value > 0 ? std::to_string(value) : std::string(); };
  variables.emplace_back("LOCKSTEP_STEPS", plan.steps.has_value() ? to_string(*plan.steps) : "");
  variables.emplace_back("LOCKSTEP_START", number(plan.start_realtime));
  variables.emplace_back("LOCKSTEP_DELAY", seconds(plan.delay_ns));
  variables.emplace_back("LOCKSTEP_DURATION", seconds(plan.duration_ns));
  variables.emplace_back("LOCKSTEP_MAX_SIZE", number(plan.max_bytes));
  variables.emplace_back("LOCKSTEP_RING", seconds(plan.ring_ns));
  if (plan.ring_ns > 0) {
    // The memory is the environment's own business (docs/recording.md).
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), plan.ring_factor);
    variables.emplace_back("LOCKSTEP_RING_FACTOR",
                           error == std::errc{} ? std::string(text.data(), end) : std::string());
  }
  variables.emplace_back("LOCKSTEP_HANG_TIMEOUT", seconds(plan.hang_timeout_ns));
  variables.emplace_back("LOCKSTEP_SURVIVE_KILL", plan.survive_kill ? "1" : "");
  return variables;
}

}  // namespace lockstep::tracer::control
