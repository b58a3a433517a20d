// The process group of the job: rendezvous, Gloo, and the few collectives that the trainer calls by itself.
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

#include "reference_trainer/distributed/traffic.h"
#include "reference_trainer/launcher/placement.h"
#include "reference_trainer/options/options.h"

namespace c10d {
class Backend;
class ProcessGroup;
class Store;
}  // namespace c10d

namespace lockstep::trainer {

class InstrumentedBackend;
class RankFaults;

class Communicator {
 public:
  // Meets the other ranks at the rendezvous store and connects to them. One Gloo worker thread: collectives
  // run one after the other, in the order in which they were issued. `name` is the group's, of all ranks.
  // `pace`: how long operations take at least, here and in groups that are made from this; so for `faults`,
  // which must live as long as this.
  Communicator(const Placement& placement, std::chrono::seconds timeout, const std::string& name,
               const PaceOptions& pace, RankFaults& faults);
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
  // ranks.
  std::function<double()> start_sum(double value);
  void barrier();
  // Connections of their own between some ranks, this one among them, for sends and receives. Each of them
  // must call this, with the same name, and nobody else. Ranks of the result count within `ranks`.
  c10::intrusive_ptr<c10d::Backend> connect(const std::string& name, const std::vector<int>& ranks);
  RankFaults& faults() const { return faults_; }

 private:
  c10::intrusive_ptr<c10d::Backend> connect_gloo(const std::string& name, const std::vector<int>& ranks);

  int rank_;
  int size_;
  Placement placement_;
  std::chrono::seconds timeout_;
  PaceOptions pace_;
  RankFaults& faults_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<InstrumentedBackend> backend_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};

}  // namespace lockstep::trainer
