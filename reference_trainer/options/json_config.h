// Flags out of a JSON file (--config): an object whose keys are the flags' names without the dashes.
//
//   {"mode": "fsdp", "ranks": 4, "backward-prefetch": "post", "forward-prefetch": true}
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep::trainer {

class JsonConfig : public CLI::Config {
 public:
  // `app`: whose flags they are.
  explicit JsonConfig(const CLI::App& app) : app_(app) {}
  std::string to_config(const CLI::App*, bool, bool, std::string) const override;
  // Throws CLI::ConfigError with line and column where it isn't JSON, and with the key where a value is
  // neither text, number, true or false, nor a list of these, or where no flag has this name. Keys may have
  // underscores for dashes; a flag --no-X may be given as X too, with the opposite value.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  const CLI::App& app_;
};

}  // namespace lockstep::trainer
