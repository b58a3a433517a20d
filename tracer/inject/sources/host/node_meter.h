// The node: network and InfiniBand ports, and how much threads anywhere on it wait for processors. For one
// process a node.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tracer/inject/sources/host/quantity.h"

namespace lockstep::tracer::host {

class NodeMeter final : public Meter {
 public:
  static constexpr std::size_t kMaxInterfaces = 16;
  static constexpr std::size_t kMaxPorts = 16;

  // `root` stands before /sys and /proc: a test's folder, or empty.
  explicit NodeMeter(std::string root = {}) : root_(std::move(root)) {}
  void describe(std::vector<Quantity>& quantities) override;
  void read(Amount* readings) noexcept override;
  std::string problem() const override;

 private:
  // A quantity is the sum of some files.
  struct Sum {
    std::vector<std::string> files;
    bool is_rare;  // reading a file takes microseconds: what seldom changes is read once a second
  };
  static constexpr unsigned kSamplesARareOne = 10;
  void add(std::vector<Quantity>& quantities, std::string name, double scale, std::vector<std::string> files,
           bool is_rare = false);
  void describe_interfaces(std::vector<Quantity>& quantities);
  void describe_ports(std::vector<Quantity>& quantities);

  std::string root_;
  std::vector<Sum> sums_;
  unsigned sample_ = 0;
  std::string pressure_;
  std::string problem_;
};

}  // namespace lockstep::tracer::host
