#include "reference_trainer/distributed/ring.h"

#include <ATen/ops/empty_like.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

namespace lockstep::trainer {
namespace {

class Ring {
 public:
  Ring(c10d::Backend& transport, const at::Tensor& whole, int tag)
      : transport_(transport),
        tag_(tag),
        whole_(whole),
        size_(transport.getSize()),
        rank_(transport.getRank()),
        part_(whole.numel() / size_) {}

  int size() const { return size_; }
  // Counted around the ring: part −1 is the last one.
  at::Tensor part(int index) const {
    const int wrapped = ((index % size_) + size_) % size_;
    return whole_.narrow(0, wrapped * part_, part_);
  }
  int rank() const { return rank_; }

  // Sends to the next rank while receiving from the one before.
  void exchange(const at::Tensor& outgoing, const at::Tensor& incoming) const {
    std::vector<at::Tensor> in{incoming}, out{outgoing};
    const auto received = transport_.recv(in, (rank_ + size_ - 1) % size_, tag_);
    const auto sent = transport_.send(out, (rank_ + 1) % size_, tag_);
    received->wait();
    sent->wait();
  }

 private:
  c10d::Backend& transport_;
  int tag_;
  const at::Tensor& whole_;
  int size_;
  int rank_;
  std::int64_t part_;
};

}  // namespace

void ring_all_gather(c10d::Backend& transport, at::Tensor whole, int tag) {
  const Ring ring(transport, whole, tag);
  for (int step = 0; step + 1 < ring.size(); ++step)
    ring.exchange(ring.part(ring.rank() - step), ring.part(ring.rank() - step - 1));
}

void ring_reduce_scatter(c10d::Backend& transport, at::Tensor whole, int tag) {
  const Ring ring(transport, whole, tag);
  const at::Tensor arrived = at::empty_like(ring.part(0));
  for (int step = 0; step + 1 < ring.size(); ++step) {
    ring.exchange(ring.part(ring.rank() - step - 1), arrived);
    ring.part(ring.rank() - step - 2).add_(arrived);
  }
}

}  // namespace lockstep::trainer
