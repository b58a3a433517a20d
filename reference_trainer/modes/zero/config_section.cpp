#include "reference_trainer/modes/zero/config_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestQuote = 60;
constexpr double kWholeLimit = 9.0e18;  // below the largest int64

// On one line, without anything that a terminal would take for more than text. Not what is inside of objects:
// they may be deep.
std::string quote(const Json& value) {
  if (value.is_object()) return "{…}";
  if (value.is_array()) return "[…]";
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kLongestQuote) text = text.substr(0, kLongestQuote) + "…";
  return text;
}

std::string printable(const std::string& key) {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char letter) {
    return letter > ' ' && letter < 0x7f && letter != '"';
  });
  return plain ? key : quote(Json(key));
}

bool is_automatic(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>() == "auto";
}

// 500000000, 5e8 and 5.0e8 alike.
std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number > static_cast<std::uint64_t>(INT64_MAX) ? std::nullopt
                                                          : std::optional(std::int64_t(number));
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (std::abs(number) > kWholeLimit || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string or_automatic(bool may_be_automatic) {
  return may_be_automatic ? ", or \"auto\"" : "";
}

std::string describe(const NumberRule& rule) {
  if (rule.expected != nullptr) return rule.expected;
  const bool bounded = rule.most < NumberRule{}.most;
  return fmt::format("a whole number{}{} {}{}", *rule.unit == '\0' ? "" : " of ", rule.unit,
                     bounded ? fmt::format("from {} to {}", rule.least, rule.most)
                             : fmt::format("of at least {}", rule.least),
                     bounded ? "" : ", such as 5e8");
}

// "line 3, column 7" of the byte that the parser stopped at, counted from 1 as it counts.
std::string place(const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto begin = text.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(at);
  const auto lines = std::count(begin, end, '\n');
  const std::size_t line_begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t column = line_begin == std::string::npos ? at + 1 : at - line_begin;
  return fmt::format("line {}, column {}", lines + 1, column);
}

// The parser's messages are "[json.exception.parse_error.101] parse error at line 1, column 2: what": the
// part that says what.
std::string reason(const std::string& message) {
  const std::size_t colon = message.find(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

}  // namespace

std::string ConfigSection::path_of(const std::string& key) const {
  return path_.empty() ? printable(key) : path_ + "." + printable(key);
}

void ConfigSection::refuse(const std::string& key, const Json& value, const std::string& expected) {
  if (file_.error) return;
  file_.error = Error{fmt::format("{}: {}: {} must be {}", file_.name, path_of(key), quote(value), expected)};
}

void ConfigSection::miss(const std::string& key, const std::string& wanted) {
  if (file_.error) return;
  file_.error = Error{fmt::format("{}: has no {}: give {}", file_.name, path_of(key), wanted)};
}

std::optional<Json> ConfigSection::take(const std::string& key) {
  const auto found = object_.find(key);
  if (found == object_.end()) return std::nullopt;
  Json value = std::move(*found);
  object_.erase(found);
  return value;
}

std::optional<bool> ConfigSection::boolean(const std::string& key, bool may_be_automatic) {
  const auto value = take(key);
  if (!value || (may_be_automatic && is_automatic(*value))) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  refuse(key, *value, "true or false" + or_automatic(may_be_automatic));
  return std::nullopt;
}

std::optional<std::int64_t> ConfigSection::whole(const std::string& key, NumberRule rule,
                                                 bool may_be_automatic) {
  const auto value = take(key);
  if (!value || (may_be_automatic && is_automatic(*value))) return std::nullopt;
  const auto number = whole_number(*value);
  if (number && *number >= rule.least && *number <= rule.most) return number;
  refuse(key, *value, describe(rule) + or_automatic(may_be_automatic));
  return std::nullopt;
}

std::int64_t ConfigSection::whole_or(const std::string& key, NumberRule rule, std::int64_t otherwise,
                                     std::optional<std::int64_t> automatic) {
  if (!has(key)) return otherwise;
  return whole(key, rule, automatic.has_value()).value_or(automatic.value_or(otherwise));
}

std::optional<double> ConfigSection::number(const std::string& key, double least, bool may_be_automatic) {
  const auto value = take(key);
  if (!value || (may_be_automatic && is_automatic(*value))) return std::nullopt;
  if (value->is_number() && value->get<double>() >= least) return value->get<double>();
  refuse(key, *value, fmt::format("a number of at least {}{}", least, or_automatic(may_be_automatic)));
  return std::nullopt;
}

std::optional<std::string> ConfigSection::text(const std::string& key) {
  const auto value = take(key);
  if (!value) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  refuse(key, *value, "a text");
  return std::nullopt;
}

std::optional<std::size_t> ConfigSection::choice(const std::string& key,
                                                 const std::vector<std::string>& names) {
  const auto value = take(key);
  if (!value) return std::nullopt;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (value->is_string() && value->get_ref<const std::string&>() == names[i]) return i;
  refuse(key, *value, fmt::format("one of \"{}\"", fmt::join(names, "\", \"")));
  return std::nullopt;
}

ConfigSection ConfigSection::section(const std::string& key) {
  auto value = take(key);
  if (value && !value->is_object() && !value->is_null()) {
    refuse(key, *value, "an object: {…}");
    value.reset();
  }
  return {file_, path_of(key), value && value->is_object() ? std::move(*value) : Json::object()};
}

void ConfigSection::ignore_the_rest() {
  for (const auto& item : object_.items()) warn(item.key(), "ignored");
  object_ = Json::object();
}

ConfigSection parse_config(ConfigFile& file, const std::string& text) {
  // Keys of the objects that are open; a key that comes twice would hide its first value.
  std::vector<std::set<std::string>> keys;
  std::optional<std::string> twice;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second && !twice)
      twice = parsed.get<std::string>();
    return true;
  };
  Json root;
  try {
    root = Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    file.error =
        Error{fmt::format("{}: {}: no JSON: {}", file.name, place(text, error.byte), reason(error.what()))};
  } catch (const Json::exception& error) {  // a number that no double holds
    file.error = Error{fmt::format("{}: {}", file.name, reason(error.what()))};
  }
  if (!file.error && twice)
    file.error = Error{fmt::format("{}: the key {} stands twice in one object; leave one of them", file.name,
                                   quote(Json(*twice)))};
  if (!file.error && !root.is_object())
    file.error = Error{fmt::format("{}: {} must be an object: {{…}}", file.name, quote(root))};
  return {file, "", file.error ? Json::object() : std::move(root)};
}

}  // namespace lockstep::trainer
