#include "reference_trainer/logging/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reference_trainer/logging/configuration.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

// FNV-1a (Fowler, Noll, Vo): the same on every machine, which std::hash need not be.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return sum;
}

std::string flag_of(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

// "/zero_optimization/stage" as people write it.
std::string path_of(std::string pointer) {
  pointer.erase(0, 1);
  std::replace(pointer.begin(), pointer.end(), '/', '.');
  return pointer;
}

std::string words(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string differ(const std::string& name, const Json* of_rank_0, const Json* of_rank, int rank) {
  if (of_rank == nullptr)
    return fmt::format("rank {} has no {}, rank 0 has {}: give all ranks the same flags", rank, name,
                       words(*of_rank_0));
  return fmt::format("rank {} has {} {}, rank 0 has {}: give all ranks the same flags", rank, name,
                     words(*of_rank), of_rank_0 == nullptr ? "none" : words(*of_rank_0));
}

const Json* find(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

std::string shared_configuration(const Options& options, int world_size, const Text& text) {
  Json shared = Json::object();
  const Json flags = flags_of(options, world_size);
  for (const auto& [key, value] : flags.items())
    if (key != "threads" && key != "timeout" && key != "data") shared[flag_of(key)] = value;
  const Json deepspeed = deepspeed_of(options);
  if (!deepspeed.is_null()) {
    const Json flat = deepspeed.flatten();
    for (const auto& [pointer, value] : flat.items())
      if (!pointer.ends_with("nvme_path")) shared["--deepspeed's " + path_of(pointer)] = value;
  }
  shared["--data"] = fmt::format("of {} bytes (checksum {:016x})", text.bytes.size(), checksum(text.bytes));
  return shared.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string disagreement(const std::string& of_rank_0, const std::string& of_rank, int rank) {
  if (of_rank_0 == of_rank) return "";
  const Json first = Json::parse(of_rank_0, nullptr, /*allow_exceptions=*/false);
  const Json own = Json::parse(of_rank, nullptr, /*allow_exceptions=*/false);
  if (first.is_object() && own.is_object()) {
    for (const auto& [name, value] : first.items()) {
      const Json* const other = find(own, name);
      if (other == nullptr || *other != value) return differ(name, &value, other, rank);
    }
    for (const auto& [name, value] : own.items())
      if (find(first, name) == nullptr) return differ(name, nullptr, &value, rank);
  }
  return fmt::format(
      "rank {} runs another version of lockstep-train than rank 0: run the same one on all ranks", rank);
}

}  // namespace lockstep::trainer
