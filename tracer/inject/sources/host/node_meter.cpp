#include "tracer/inject/sources/host/node_meter.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tracer/inject/core/own_file.h"
#include "tracer/inject/sources/host/files.h"

namespace lockstep::tracer::host {

namespace fs = std::filesystem;

namespace {

constexpr double kMicroseconds = 1e-6;
constexpr double kInfinibandWord = 4;  // bytes: what port_*_data counts

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void NodeMeter::add(std::vector<Quantity>& quantities, std::string name, double scale,
                    std::vector<std::string> files, bool is_rare) {
  quantities.push_back({std::move(name), Quantity::Kind::rate, scale});
  sums_.push_back({std::move(files), is_rare});
}

void NodeMeter::describe_interfaces(std::vector<Quantity>& quantities) {
  std::size_t count = 0;
  for (const std::string& name : names_in(root_ + "/sys/class/net")) {
    const std::string folder = root_ + "/sys/class/net/" + name + "/statistics/";
    if (name == "lo" || !read_number((folder + "rx_bytes").c_str()).has_value()) continue;
    if (++count > kMaxInterfaces) {
      problem_ = "network counters of the first " + std::to_string(kMaxInterfaces) + " interfaces only";
      return;
    }
    add(quantities, "network " + name + " received (bytes/s)", 1, {folder + "rx_bytes"});
    add(quantities, "network " + name + " sent (bytes/s)", 1, {folder + "tx_bytes"});
    add(quantities, "network " + name + " lost (packets/s)", 1,
        {folder + "rx_dropped", folder + "tx_dropped", folder + "rx_errors", folder + "tx_errors"}, true);
  }
}

void NodeMeter::describe_ports(std::vector<Quantity>& quantities) {
  std::size_t count = 0;
  for (const std::string& device : names_in(root_ + "/sys/class/infiniband")) {
    const std::string ports = root_ + "/sys/class/infiniband/" + device + "/ports";
    for (const std::string& port : names_in(ports)) {
      if (++count > kMaxPorts) {
        problem_ = "InfiniBand counters of the first " + std::to_string(kMaxPorts) + " ports only";
        return;
      }
      const std::string folder = ports + "/" + port + "/counters/";
      const std::string name = "infiniband " + device + "/" + port;
      add(quantities, name + " received (bytes/s)", kInfinibandWord, {folder + "port_rcv_data"});
      add(quantities, name + " sent (bytes/s)", kInfinibandWord, {folder + "port_xmit_data"});
      add(quantities, name + " errors (per s)", 1,
          {folder + "symbol_error", folder + "port_rcv_errors", folder + "port_xmit_discards",
           folder + "link_downed"},
          true);
      // Time in which the port had something to send and no credit to send it, in the port's ticks.
      add(quantities, name + " congestion (ticks/s)", 1, {folder + "port_xmit_wait"});
    }
  }
}

void NodeMeter::describe(std::vector<Quantity>& quantities) {
  describe_interfaces(quantities);
  describe_ports(quantities);
  pressure_ = root_ + "/proc/pressure/cpu";
  quantities.push_back({"cpu pressure of the node (share)", Quantity::Kind::rate, kMicroseconds});
}

void NodeMeter::read(Amount* readings) noexcept {
  const bool is_rare_one = sample_++ % kSamplesARareOne == 0;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i].is_rare && !is_rare_one) continue;
    for (const std::string& file : sums_[i].files) {
      const Amount value = read_number(file.c_str());
      if (value.has_value()) readings[i] = readings[i].value_or(0) + *value;
    }
  }
  std::array<char, 256> text{};
  readings[sums_.size()] = parse_pressure(read_own_file(pressure_.c_str(), text));
}

std::string NodeMeter::problem() const {
  return problem_;
}

}  // namespace lockstep::tracer::host
