// Sends and receives between some ranks of the job. Each direction to each peer is a communication stream of
// its own, so that a receive that waits for its sender holds up nothing but later receives from there. They
// tell NVTX when they were issued and when they ran: a receive runs from when it is posted until the data is
// there.
//
// Messages from one rank to another arrive in the order in which they were sent: the n-th receive gets the
// n-th send. Both sides know the size of each.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/options/options.h"
#include "reference_trainer/streams/stream.h"

namespace c10d {
class Backend;
class Work;
}  // namespace c10d

namespace lockstep::trainer {

class Communicator;

class P2pGroup {
 public:
  // Connects the ranks of `group`, this one among them, once more. Every one of them must do so, and nobody
  // else.
  P2pGroup(Communicator& communicator, annotations::Group group);
  // Gives up what has not arrived: whoever ends early, after an error, must not wait for ranks that wait for
  // it.
  ~P2pGroup();
  P2pGroup(const P2pGroup&) = delete;
  P2pGroup& operator=(const P2pGroup&) = delete;

  // `tensor`: contiguous; not to be touched until the event is done. `peer`: rank within the group. `what`
  // tells operations apart: "activation 3". The event throws c10d's exceptions: a peer that is gone, a
  // timeout.
  Event send(const std::string& what, const at::Tensor& tensor, int peer);
  Event recv(const std::string& what, const at::Tensor& tensor, int peer);

 private:
  using Direction = trace::Operation;  // send or recv

  class UnderWay;

  Event issue(Direction direction, const std::string& what, const at::Tensor& tensor, int peer);
  void transfer(Direction direction, at::Tensor tensor, int peer);
  Stream& stream_of(Direction direction, int peer);

  Communicator& communicator_;
  c10::intrusive_ptr<c10d::Backend> transport_;
  annotations::Group group_;
  PaceOptions pace_;
  std::uint64_t next_sequence_ = 0;
  std::mutex mutex_;  // of the two below
  bool giving_up_ = false;
  std::set<c10d::Work*> under_way_;
  std::map<std::pair<Direction, int>, std::unique_ptr<Stream>> streams_;  // last: they use the others
};

}  // namespace lockstep::trainer
