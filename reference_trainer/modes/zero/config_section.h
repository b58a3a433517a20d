// One object of a JSON configuration file, read key by key, so that every complaint names the file, the key's
// full path, its value and what would be right.
//
//   ConfigFile file("zero2.json");
//   ConfigSection root = parse_config(file, text);
//   const std::int64_t size = root.section("bucket").whole("size", {.least = 1, .unit = "elements"}, 500);
//   if (file.error) return *file.error;       // the first one; later reads gave their defaults
//   root.ignore_the_rest();                   // what nobody read is in file.ignored
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::trainer {

struct ConfigFile {
  explicit ConfigFile(std::string name) : name(std::move(name)) {}

  std::string name;
  std::optional<Error> error;
  std::vector<std::string> ignored;  // "path.of.key: ignored…", in the file's order
};

// What a number may be. Whole numbers may be written as 5e8 too.
struct NumberRule {
  std::int64_t least = 0;
  std::int64_t most = 1'000'000'000'000'000'000;
  const char* unit = "";           // "elements"; empty: none
  const char* expected = nullptr;  // what to say that it must be; null: what follows from the above
};

class ConfigSection {
 public:
  ConfigSection(ConfigFile& file, std::string path, nlohmann::ordered_json object)
      : file_(file), path_(std::move(path)), object_(std::move(object)) {}

  bool has(const std::string& key) const { return object_.contains(key); }

  // The value of `key`, which then counts as read. Where it is missing: nothing, or `otherwise`. A reader
  // with `automatic` takes the text "auto" too: it stands for that.
  std::optional<bool> boolean(const std::string& key, bool may_be_automatic = false);
  std::optional<std::int64_t> whole(const std::string& key, NumberRule rule, bool may_be_automatic);
  std::int64_t whole_or(const std::string& key, NumberRule rule, std::int64_t otherwise,
                        std::optional<std::int64_t> automatic = std::nullopt);
  std::optional<double> number(const std::string& key, double least, bool may_be_automatic);
  std::optional<std::string> text(const std::string& key);
  // One of `names`; its index.
  std::optional<std::size_t> choice(const std::string& key, const std::vector<std::string>& names);
  // An empty one where `key` is missing or null.
  ConfigSection section(const std::string& key);

  // Notes that `key` has no effect, and why.
  void warn(const std::string& key, const std::string& why) {
    file_.ignored.push_back(path_of(key) + ": " + why);
  }
  // Notes it of all that have not been read.
  void ignore_the_rest();

  // "file: path.key: value must be …"
  void refuse(const std::string& key, const nlohmann::ordered_json& value, const std::string& expected);
  // "file: has no path.key: give …"
  void miss(const std::string& key, const std::string& wanted);
  std::string path_of(const std::string& key) const;

 private:
  std::optional<nlohmann::ordered_json> take(const std::string& key);

  ConfigFile& file_;
  std::string path_;
  nlohmann::ordered_json object_;
};

// The whole file. Where `text` is no JSON object, or an object has a key twice: file.error, and an empty
// section. Syntax errors name line and column.
ConfigSection parse_config(ConfigFile& file, const std::string& text);

}  // namespace lockstep::trainer
