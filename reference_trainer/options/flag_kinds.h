// Kinds of flags of `lockstep train`, for whoever has flags to add.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockstep::trainer {

inline constexpr std::int64_t kMillion = 1'000'000;

// CLI11's own checks speak of ranges up to 1.8e308; these say what a value must be and what it was.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
CLI::Validator number(bool zero_allowed, double most);

// A switch that makes `value` false.
CLI::Option* add_switch_off(CLI::App& app, const char* flag, const char* help, bool& value);

// A flag whose value is one of a few names.
template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, const std::string& help,
                        const std::map<std::string, Value>& values, const std::string& usual,
                        const std::string& group, Value& value) {
  std::vector<std::string> names;
  for (const auto& item : values) names.push_back(item.first);
  return app
      .add_option_function<std::string>(
          flag, [&value, values](const std::string& name) { value = values.at(name); },
          fmt::format("{}: {}", help, fmt::join(names, ", ")))
      ->check(CLI::IsMember(names).description(""))
      ->type_name("NAME")
      ->default_str(usual)
      ->group(group);
}

}  // namespace lockstep::trainer
