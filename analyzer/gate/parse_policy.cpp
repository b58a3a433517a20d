// Policies as TOML. Everything that is not known is an error: a figure that a typing error leaves out would
// never fail.
#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/figures/figures.h"
#include "analyzer/figures/parse_figure.h"
#include "analyzer/gate/policy.h"
#include "base/near_names.h"
#include "base/words.h"

namespace lockstep::analyzer {
namespace {

std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  const std::optional<std::string> near = nearest_name(word, names);
  return near ? fmt::format(" (did you mean '{}'?)", *near) : "";
}

// "policy.toml:7: tolerance: …"
class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  Error error(const toml::node& at, const std::string& message) const {
    return {fmt::format("{}:{}: {}", source_, at.source().begin.line, message)};
  }

  // All keys of `table` are among `known`.
  Status check_keys(const toml::table& table, const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      return error(node, fmt::format("'{}' is not known here{}; there are {}", key.str(),
                                     suggestion(key.str(), known), join_words(known, ", ", " and ")));
    }
    return {};
  }

  Result<std::string> text(const toml::table& table, const char* key, const char* what) const {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return error(table, fmt::format("{} is missing: {}", key, what));
    const std::optional<std::string> value = node->value_exact<std::string>();
    if (!value || value->empty()) return error(*node, fmt::format("{} is no text: {}", key, what));
    return *value;
  }

  // A number, or text with a unit; nothing where it is not there.
  Result<std::optional<double>> figure(const toml::table& table, const char* key, Unit unit) const {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return std::optional<double>();
    if (node->is_number()) {
      const double number = *node->value<double>();
      if (!std::isfinite(number)) return error(*node, fmt::format("{} is not finite", key));
      return std::optional(number);
    }
    const std::optional<std::string> value = node->value_exact<std::string>();
    if (!value) return error(*node, fmt::format("{} is neither a number nor text", key));
    const Result<double> read = parse_figure(*value, unit);
    if (!read.ok()) return error(*node, fmt::format("{}: {}", key, read.error().message));
    return std::optional(read.value());
  }

  Result<double> number(const toml::table& table, const char* key, double otherwise, double above,
                        double below) const {
    const Result<std::optional<double>> read = figure(table, key, Unit::share);
    if (!read.ok()) return read.error();
    if (!read.value()) return otherwise;
    if (!(*read.value() > above && *read.value() < below))
      return error(*table.get(key),
                   fmt::format("{} = {}: it has to lie between {} and {}", key, *read.value(), above, below));
    return *read.value();
  }

 private:
  const std::string& source_;
};

const std::vector<std::string> kFigureKeys{"name",    "scope",    "tolerance", "floor",
                                           "at_most", "at_least", "weight"};

Result<const FigureKind*> find_figure(const Reader& reader, const toml::table& table, const char* key) {
  const Result<std::string> name =
      reader.text(table, key, "the name of a figure, as `lockstep check --figures` lists them");
  if (!name.ok()) return name.error();
  const FigureKind* const kind = find_figure_kind(name.value());
  if (kind != nullptr) return kind;
  std::vector<std::string> names;
  for (const FigureKind* each : figure_kinds()) names.emplace_back(each->name);
  return reader.error(*table.get(key),
                      fmt::format("there is no figure '{}'{}; `lockstep check --figures` lists them",
                                  name.value(), suggestion(name.value(), names)));
}

// The bound, if one is given: of the side on which the figure gets worse.
Result<std::optional<double>> bound_of(const Reader& reader, const toml::table& table,
                                       const FigureKind& figure) {
  const bool lower = figure.direction == Direction::lower_is_better;
  const char* const wrong = lower ? "at_least" : "at_most";
  if (const toml::node* const node = table.get(wrong))
    return reader.error(*node, fmt::format("{} is better the {} it is: a bound on it is {}", figure.name,
                                           lower ? "lower" : "higher", lower ? "at_most" : "at_least"));
  return reader.figure(table, lower ? "at_most" : "at_least", figure.unit);
}

Result<Rule> rule_of(const Reader& reader, const toml::table& table) {
  if (const Status keys = reader.check_keys(table, kFigureKeys); !keys.ok()) return keys.error();
  const Result<const FigureKind*> figure = find_figure(reader, table, "name");
  if (!figure.ok()) return figure.error();
  Rule rule{.figure = figure.value(), .scope = "", .bound = std::nullopt, .tolerance = {}};
  if (table.get("scope") != nullptr) {
    Result<std::string> scope =
        reader.text(table, "scope", "\"rank 3\", \"group dp\", \"phase checkpoint\"; without it: the job");
    if (!scope.ok()) return scope.error();
    if (scope.value() != "job") rule.scope = std::move(scope).value();
  }
  const Result<std::optional<double>> bound = bound_of(reader, table, *rule.figure);
  if (!bound.ok()) return bound.error();
  rule.bound = bound.value();
  const Result<std::optional<double>> tolerance = reader.figure(table, "tolerance", Unit::share);
  if (!tolerance.ok()) return tolerance.error();
  const Result<std::optional<double>> floor = reader.figure(table, "floor", rule.figure->unit);
  if (!floor.ok()) return floor.error();
  // A bound is meant as it is written.
  rule.tolerance.relative = tolerance.value().value_or(rule.bound ? 0 : 0.03);
  rule.tolerance.floor = floor.value().value_or(rule.bound ? 0 : rule.figure->floor);
  if (rule.tolerance.relative < 0) return reader.error(*table.get("tolerance"), "tolerance is below 0");
  if (rule.tolerance.floor < 0) return reader.error(*table.get("floor"), "floor is below 0");
  const Result<double> weight = reader.number(table, "weight", 1, 0, 1000);
  if (!weight.ok()) return weight.error();
  rule.weight = weight.value();
  return rule;
}

Result<Expected> expected_of(const Reader& reader, const toml::table& table) {
  if (const Status keys = reader.check_keys(table, {"figure", "scope", "reason", "until"}); !keys.ok())
    return keys.error();
  const Result<const FigureKind*> figure = find_figure(reader, table, "figure");
  if (!figure.ok()) return figure.error();
  Expected expected{.figure = std::string(figure.value()->name), .scope = "", .reason = "", .until = ""};
  if (table.get("scope") != nullptr) {
    Result<std::string> scope = reader.text(table, "scope", "as the figure has it");
    if (!scope.ok()) return scope.error();
    if (scope.value() != "job") expected.scope = std::move(scope).value();
  }
  Result<std::string> reason = reader.text(table, "reason", "why it is expected");
  if (!reason.ok()) return reason.error();
  expected.reason = std::move(reason).value();
  const toml::node* const until = table.get("until");
  const std::optional<toml::date> day = until == nullptr ? std::nullopt : until->value_exact<toml::date>();
  if (!day)
    return reader.error(until == nullptr ? static_cast<const toml::node&>(table) : *until,
                        "until is no date: write until = 2026-12-31");
  expected.until = fmt::format("{:04}-{:02}-{:02}", day->year, day->month, day->day);
  return expected;
}

// Each table of the array `key`.
template <class Item, class Of>
Status read_each(const Reader& reader, const toml::table& root, const char* key, std::vector<Item>& items,
                 const Of& of) {
  const toml::node* const node = root.get(key);
  if (node == nullptr) return {};
  const toml::array* const array = node->as_array();
  if (array == nullptr) return reader.error(*node, fmt::format("write [[{}]] before each", key));
  for (const toml::node& each : *array) {
    const toml::table* const table = each.as_table();
    if (table == nullptr) return reader.error(each, fmt::format("write [[{}]] before each", key));
    Result<Item> item = of(reader, *table);
    if (!item.ok()) return item.error();
    items.push_back(std::move(item).value());
  }
  return {};
}

// One that stands for no figure would excuse nothing, and who wrote it would learn that from a red pipeline.
Status check_expected(const Reader& reader, const toml::table& root, const Policy& policy) {
  std::vector<std::string> names;
  for (const Rule& rule : policy.rules)
    if (std::find(names.begin(), names.end(), rule.name()) == names.end()) names.push_back(rule.name());
  for (std::size_t i = 0; i < policy.expected.size(); ++i) {
    const Expected& expected = policy.expected[i];
    if (std::any_of(policy.rules.begin(), policy.rules.end(),
                    [&](const Rule& rule) { return expected.stands_for(rule); }))
      continue;
    const toml::table& table = *(*root.get("expected")->as_array())[i].as_table();
    return reader.error(
        *table.get("figure"),
        fmt::format("no [[figure]] here is {}{}, so that nothing can be expected of it; there are {}",
                    expected.name(), suggestion(expected.name(), names), join_words(names, ", ", " and ")));
  }
  return {};
}

}  // namespace

Result<Policy> parse_policy(std::string_view text, const std::string& source) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return Error{
        fmt::format("{}:{}: {}", source, parsed.error().source().begin.line, parsed.error().description())};
  const toml::table& root = parsed.table();
  const Reader reader(source);
  Policy policy{.source = source, .rules = {}, .expected = {}};
  if (const Status keys = reader.check_keys(root, {"false_alarms", "confidence", "figure", "expected"});
      !keys.ok())
    return keys.error();
  const Result<double> alarms = reader.number(root, "false_alarms", policy.false_alarms, 0, 0.5);
  if (!alarms.ok()) return alarms.error();
  policy.false_alarms = alarms.value();
  const Result<double> confidence = reader.number(root, "confidence", policy.confidence, 0.5, 1);
  if (!confidence.ok()) return confidence.error();
  policy.confidence = confidence.value();
  if (const Status read = read_each(reader, root, "figure", policy.rules, rule_of); !read.ok())
    return read.error();
  if (const Status read = read_each(reader, root, "expected", policy.expected, expected_of); !read.ok())
    return read.error();
  if (policy.rules.empty())
    return Error{fmt::format("{}: there is no [[figure]] in it: it would check nothing", source)};
  if (const Status known = check_expected(reader, root, policy); !known.ok()) return known.error();
  std::set<std::pair<std::string, std::string>> seen;
  for (const Rule& rule : policy.rules)
    if (!seen.emplace(rule.figure->name, fmt::format("{}{}", rule.bound ? "bound " : "", rule.scope)).second)
      return Error{fmt::format("{}: {} stands in it twice", source, rule.name())};
  return policy;
}

std::string commented_policy() {
  std::string text =
      "# What `lockstep check` asks of a run. `lockstep check --figures` lists the figures.\n\n"
      "# How often this policy as a whole may call a healthy change a regression, by chance.\n"
      "false_alarms = 0.01\n"
      "# How sure it has to be that a figure is within its tolerance, before it says so.\n"
      "confidence = 0.95\n";
  for (const Rule& rule : default_policy().rules)
    text += fmt::format(
        "\n# {}.\n[[figure]]\nname = \"{}\"\n"
        "tolerance = \"{:g} %\"  # worse than the baseline by more fails\n"
        "floor = \"{}\"  # and never by less than this\n",
        rule.figure->meaning, rule.figure->name, rule.tolerance.relative * 100,
        format_figure(rule.tolerance.floor, rule.figure->unit));
  return text +
         "\n# A bound instead of a baseline:\n"
         "# [[figure]]\n# name = \"goodput\"\n# at_least = \"90 %\"\n"
         "\n# Of a group or a rank:\n"
         "# [[figure]]\n# name = \"busbw\"\n# scope = \"group dp all_reduce\"\n# tolerance = \"5 %\"\n"
         "\n# A regression that is known: said, but no failure until that day.\n"
         "# [[expected]]\n# figure = \"step_time\"\n# reason = \"activation checkpointing is on, issue 123\"\n"
         "# until = 2026-12-31\n";
}

}  // namespace lockstep::analyzer
