#include "reference_trainer/options/json_config.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/near_names.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& key, const Json& value, const char* wanted) {
  throw CLI::ConfigError("\"" + key + "\": " + value.dump() + " must be " + wanted);
}

[[noreturn]] void refuse_unknown(const std::string& name, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options())
    for (const std::string& candidate : option->get_lnames()) names.push_back(candidate);
  const std::optional<std::string> nearest = nearest_name(name, names);
  throw CLI::ConfigError("no flag is named --" + name +
                         (nearest ? "; did you mean --" + *nearest + "?" : ""));
}

// As JSON has it, so must the flag: a switch is true or false, a number no text.
std::string text_of(const std::string& key, const Json& value, const CLI::Option* option) {
  static const std::set<std::string> kTexts{"NAME", "PATH", "FILE", "SPEC"};
  if (value.is_structured() || value.is_null())
    refuse(key, value, "a text, a number, true or false (a list for --fault alone)");
  const bool is_switch = option->get_expected_max() == 0;
  if (is_switch && !value.is_boolean()) refuse(key, value, "true or false");
  if (!is_switch && kTexts.contains(option->get_type_name()) && !value.is_string())
    refuse(key, value, "a text");
  if (!is_switch && !kTexts.contains(option->get_type_name()) && !value.is_number())
    refuse(key, value, "a number");
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string JsonConfig::to_config(const CLI::App*, bool, bool, std::string) const {
  return "";  // nothing writes configurations
}

std::vector<CLI::ConfigItem> JsonConfig::from_config(std::istream& input) const {
  Json document;
  try {
    document = Json::parse(input);
  } catch (const Json::exception& error) {  // a number too large is no parse_error
    throw CLI::ConfigError(std::string("not JSON: ") + error.what());
  }
  if (!document.is_object()) throw CLI::ConfigError("must be a JSON object whose keys are names of flags");
  std::vector<CLI::ConfigItem> items;
  std::map<const CLI::Option*, std::string> given;
  for (const auto& [key, value] : document.items()) {
    CLI::ConfigItem& item = items.emplace_back();
    item.name = key;
    std::replace(item.name.begin(), item.name.end(), '_', '-');
    const CLI::Option* option = app_.get_option_no_throw("--" + item.name);
    // "limit-all-gathers": false is --no-limit-all-gathers.
    const CLI::Option* const negation =
        option == nullptr ? app_.get_option_no_throw("--no-" + item.name) : nullptr;
    if (negation != nullptr) {
      option = negation;
      item.name = "no-" + item.name;
    }
    if (option == nullptr) refuse_unknown(item.name, app_);
    const auto [first, fresh] = given.emplace(option, key);
    if (!fresh)
      throw CLI::ConfigError("\"" + first->second + "\" and \"" + key +
                             "\" are the same flag: leave one out");
    if (value.is_array() && option->get_name() == "--fault") {
      for (const Json& element : value) item.inputs.push_back(text_of(key, element, option));
    } else if (negation != nullptr && value.is_boolean()) {
      item.inputs.emplace_back(value.get<bool>() ? "false" : "true");
    } else {
      item.inputs.push_back(text_of(key, value, option));
    }
  }
  return items;
}

}  // namespace lockstep::trainer
