#include "reference_trainer/options/json_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  throw CLI::ConfigError("\"" + key + "\": " + value.dump() +
                         " must be a text, a number, true, false, or a list of these");
}

}  // namespace

std::string JsonConfig::to_config(const CLI::App*, bool, bool, std::string) const {
  return "";  // nothing writes configurations
}

std::vector<CLI::ConfigItem> JsonConfig::from_config(std::istream& input) const {
  Json document;
  try {
    document = Json::parse(input);
  } catch (const Json::parse_error& error) {
    throw CLI::ConfigError(std::string("not JSON: ") + error.what());
  }
  if (!document.is_object()) throw CLI::ConfigError("must be a JSON object whose keys are names of flags");
  std::vector<CLI::ConfigItem> items;
  for (const auto& [key, value] : document.items()) {
    CLI::ConfigItem& item = items.emplace_back();
    item.name = key;
    std::replace(item.name.begin(), item.name.end(), '_', '-');
    if (value.is_array()) {
      for (const Json& element : value) item.inputs.push_back(text_of(key, element));
    } else {
      item.inputs.push_back(text_of(key, value));
    }
  }
  return items;
}

}  // namespace lockstep::trainer
