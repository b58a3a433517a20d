// The process group of the job, and the few collectives that the trainer calls by itself.
//
// Errors of c10d (a rank that is gone, a timeout, a port in use) come as C++ exceptions, as c10d throws them;
// the training loop turns them into messages.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/distributed/connections.h"
#include "reference_trainer/distributed/traffic.h"
#include "reference_trainer/options/options.h"

namespace c10d {
class ProcessGroup;
}  // namespace c10d

namespace lockstep::trainer {

class InstrumentedBackend;
class StreamBackend;
class RankFaults;

class Communicator {
 public:
  // Meets the other ranks and connects to them. `name` is the group's, of all ranks. `pace`: how long
  // operations take at least, here and in groups that are made from this; so for `faults`, which must live as
  // long as this.
  // `configuration`: what connections.h wants.
  Communicator(const Placement& placement, const std::string& configuration, std::chrono::seconds timeout,
               const std::string& name, const ComputeDevice& device, const PaceOptions& pace,
               RankFaults& faults);
  ~Communicator();

  int rank() const { return rank_; }
  int size() const { return size_; }
  const c10::intrusive_ptr<c10d::ProcessGroup>& process_group() const { return group_; }
  const PaceOptions& pace() const { return pace_; }

  // What the operations issued from now on are for: part of their names and of the traffic count.
  void set_purpose(Purpose purpose);
  Traffic traffic(Purpose purpose) const;

  // Overwrites the tensors with those of rank 0.
  void broadcast(std::vector<at::Tensor> tensors);
  // Issues the all-reduce of one number; the function that it returns waits for it and gives the sum over all
  // ranks. `of`: what the number is, for messages.
  std::function<double()> start_sum(double value, const std::string& of);
  void barrier();
  const Connections& connections() const { return connections_; }
  RankFaults& faults() const { return faults_; }

 private:
  int rank_;
  int size_;
  PaceOptions pace_;
  RankFaults& faults_;
  Connections connections_;
  c10::intrusive_ptr<InstrumentedBackend> host_;
  c10::intrusive_ptr<StreamBackend> device_;  // null on the CPU: all tensors are the host's
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};

}  // namespace lockstep::trainer
