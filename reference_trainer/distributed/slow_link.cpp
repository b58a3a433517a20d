#include "reference_trainer/distributed/slow_link.h"

#include <thread>
#include <utility>

namespace lockstep::trainer {

SlowLink::SlowLink(c10::intrusive_ptr<c10d::Backend> transport, const RankFaults& faults)
    : c10d::Backend(transport->getRank(), transport->getSize()),
      transport_(std::move(transport)),
      faults_(faults) {}

c10::intrusive_ptr<c10d::Work> SlowLink::send(std::vector<at::Tensor>& tensors, int to, int tag) {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  std::this_thread::sleep_for(faults_.sending_time(bytes));
  return transport_->send(tensors, to, tag);
}

}  // namespace lockstep::trainer
