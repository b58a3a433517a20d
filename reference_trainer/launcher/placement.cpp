#include "reference_trainer/launcher/placement.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace lockstep::trainer {
namespace {

constexpr int kMaxRanks = 1 << 20;

Result<int> read_number(const GetEnvironment& get, const char* name, int least, int most) {
  const char* text = get(name);
  if (text == nullptr) {
    return Error{fmt::format("the environment has RANK but not {}: a launcher sets both", name)};
  }
  const std::string_view digits(text);
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < least || value > most) {
    return Error{
        fmt::format("{}='{}' in the environment: must be a number from {} to {}", name, text, least, most)};
  }
  return value;
}

bool is_true(const char* text) {
  return text != nullptr && (std::string_view(text) == "True" || *text == '1');
}

}  // namespace

Result<std::optional<Placement>> read_placement(const GetEnvironment& get) {
  if (get("RANK") == nullptr) return std::optional<Placement>();
  Placement placement;
  const Result<int> world_size = read_number(get, "WORLD_SIZE", 1, kMaxRanks);
  if (!world_size.ok()) return world_size.error();
  placement.world_size = world_size.value();
  const Result<int> rank = read_number(get, "RANK", 0, placement.world_size - 1);
  if (!rank.ok()) return rank.error();
  placement.rank = rank.value();
  placement.local_world_size = placement.world_size;
  if (get("LOCAL_WORLD_SIZE") != nullptr) {
    const Result<int> local = read_number(get, "LOCAL_WORLD_SIZE", 1, placement.world_size);
    if (!local.ok()) return local.error();
    placement.local_world_size = local.value();
  }
  placement.local_rank = placement.rank % placement.local_world_size;
  if (get("LOCAL_RANK") != nullptr) {
    const Result<int> local = read_number(get, "LOCAL_RANK", 0, placement.local_world_size - 1);
    if (!local.ok()) return local.error();
    placement.local_rank = local.value();
  }
  if (placement.world_size == 1) return std::optional(placement);

  const char* address = get("MASTER_ADDR");
  if (address == nullptr || *address == '\0') {
    return Error{"the environment has RANK but not MASTER_ADDR: set it to the host of rank 0"};
  }
  placement.master_address = address;
  const Result<int> port = read_number(get, "MASTER_PORT", 1, 65535);
  if (!port.ok()) return port.error();
  placement.master_port = static_cast<std::uint16_t>(port.value());
  placement.launcher_runs_store = is_true(get("TORCHELASTIC_USE_AGENT_STORE"));
  if (get("TORCHELASTIC_RESTART_COUNT") != nullptr) {
    const Result<int> restarts = read_number(get, "TORCHELASTIC_RESTART_COUNT", 0, kMaxRanks);
    if (!restarts.ok()) return restarts.error();
    placement.restart_count = restarts.value();
  }
  return std::optional(placement);
}

}  // namespace lockstep::trainer
