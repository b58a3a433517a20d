// How the ranks of a job reach each other: the rendezvous store, and connections over Gloo or NCCL.
//
// Errors of c10d (a rank that is gone, a timeout, a port in use) come as C++ exceptions, as c10d throws them.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/device/compute_device.h"
#include "reference_trainer/launcher/placement.h"
#include "reference_trainer/streams/stream.h"

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace lockstep::trainer {

class RankFaults;

class Connections {
 public:
  // Meets the other ranks at the rendezvous store, where all must have the same `configuration`
  // (logging/agreement.h). `faults` must live as long as this and what it makes.
  Connections(const Placement& placement, const std::string& configuration, std::chrono::seconds timeout,
              const ComputeDevice& device, RankFaults& faults);
  ~Connections();

  const ComputeDevice& device() const { return device_; }
  const c10::intrusive_ptr<c10d::Store>& store() const { return store_; }

  // Connections of their own between some ranks, this one among them. Each of them must call this, with the
  // same name, and nobody else. Ranks of the result count within `ranks`. The first one knows the host's
  // memory alone, and has one worker thread: collectives run one after the other, in the order in which they
  // were issued. The second one is for tensors of the device, on streams that make_stream() makes, and slowed
  // where faults say so.
  c10::intrusive_ptr<c10d::Backend> gloo(const std::string& name, const std::vector<int>& ranks) const;
  c10::intrusive_ptr<c10d::Backend> transport(const std::string& name, const std::vector<int>& ranks) const;
  std::unique_ptr<Stream> make_stream(const std::string& name) const;

 private:
  Placement placement_;
  std::chrono::seconds timeout_;
  ComputeDevice device_;
  RankFaults& faults_;
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace lockstep::trainer
