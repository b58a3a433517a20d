#include "tracer/clock_sync/sync_address.h"

#include "base/numbers.h"

namespace lockstep::tracer::clock_sync {
namespace {

std::optional<std::uint16_t> port_of(std::string_view text) {
  return parse_number<std::uint16_t>(text, 1);
}

bool is_loopback(std::string_view host) {
  return host.empty() || host == "localhost" || host.starts_with("127.") || host == "::1" ||
         host == "0.0.0.0";
}

std::string value_of(const std::function<const char*(const char*)>& lookup, const char* name) {
  const char* const value = lookup(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::string flag_value(const std::vector<std::string>& command, std::string_view flag) {
  const auto same = [](std::string_view one, std::string_view other) {
    if (one.size() != other.size()) return false;
    for (std::size_t i = 0; i < one.size(); ++i)
      if ((one[i] == '_' ? '-' : one[i]) != other[i]) return false;
    return true;
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i];
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && same(word.substr(0, equals), flag))
      return std::string(word.substr(equals + 1));
    if (same(word, flag) && i + 1 < command.size()) return command[i + 1];
  }
  return {};
}

Result<SyncAddress> parse_sync_address(std::string_view text, std::uint16_t default_port) {
  SyncAddress address;
  address.port = default_port;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos)
      return Error{"'" + std::string(text) + "' has a [ without a ]: write [IPv6 address]:PORT"};
    address.host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && port.front() != ':')
      return Error{"'" + std::string(text) + "': what follows ] must be :PORT"};
  } else if (text.find(':') != text.rfind(':')) {
    address.host = text;  // an IPv6 address alone
  } else {
    const std::size_t colon = text.find(':');
    address.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (address.host.empty())
    return Error{"'" + std::string(text) + "' names no host: write HOST or HOST:PORT"};
  if (!port.empty()) {
    const std::optional<std::uint16_t> number = port_of(port.substr(1));
    if (!number) return Error{"'" + std::string(text) + "': the port must be a number from 1 to 65535"};
    address.port = *number;
  }
  return address;
}

std::string first_of_node_list(std::string_view list) {
  const std::size_t end = list.find_first_of("[,");
  std::string name(list.substr(0, end));
  if (end == std::string_view::npos || list[end] == ',') return name;
  const std::string_view numbers = list.substr(end + 1);
  name += numbers.substr(0, numbers.find_first_of("-,]"));
  const std::size_t close = numbers.find(']');
  if (close == std::string_view::npos) return name;
  const std::string_view rest = numbers.substr(close + 1);  // "node[1-2]-ib"
  return name + first_of_node_list(rest);
}

std::optional<SyncAddress> find_sync_address(const std::function<const char*(const char*)>& lookup,
                                             const std::vector<std::string>& command) {
  const auto found = [](const std::string& host, const std::string& port,
                        const char* from) -> std::optional<SyncAddress> {
    Result<SyncAddress> address = parse_sync_address(host);
    if (!address.ok() || is_loopback(address.value().host)) return std::nullopt;
    if (const std::optional<std::uint16_t> number = port_of(port)) address.value().port = *number;
    address.value().from = from;
    return std::move(address).value();
  };
  if (const std::string host = value_of(lookup, "MASTER_ADDR"); !host.empty())
    return found(host, value_of(lookup, "MASTER_PORT"), "MASTER_ADDR");
  if (const std::string endpoint = flag_value(command, "--rdzv-endpoint"); !endpoint.empty())
    return found(endpoint, "", "--rdzv-endpoint");
  if (const std::string host = flag_value(command, "--master-addr"); !host.empty())
    return found(host, flag_value(command, "--master-port"), "--master-addr");
  if (const std::string nodes = value_of(lookup, "SLURM_JOB_NUM_NODES"); !nodes.empty() && nodes != "1") {
    std::string list = value_of(lookup, "SLURM_STEP_NODELIST");
    if (list.empty()) list = value_of(lookup, "SLURM_JOB_NODELIST");
    if (!list.empty()) return found(first_of_node_list(list), "", "SLURM_JOB_NODELIST");
  }
  return std::nullopt;
}

}  // namespace lockstep::tracer::clock_sync
