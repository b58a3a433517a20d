#include "reference_trainer/distributed/connections.h"

#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "reference_trainer/distributed/nccl_backend.h"
#include "reference_trainer/distributed/slow_link.h"
#include "reference_trainer/distributed/staged_backend.h"
#include "reference_trainer/faults/rank_faults.h"
#include "reference_trainer/logging/agreement.h"
#include "reference_trainer/streams/device_stream.h"

namespace lockstep::trainer {
namespace {

bool is_loopback(const std::string& address) {
  return address == "localhost" || address.starts_with("127.");
}

std::string place_of_rendezvous(const Placement& placement) {
  return "the rendezvous at " + placement.master_address + ":" + std::to_string(placement.master_port);
}

// A name may come later than the ranks, as where a cluster gives each host its name when it starts. c10d
// would wait as long, and then say that nobody answered.
void await_resolution(const Placement& placement, std::chrono::seconds timeout) {
  constexpr std::chrono::milliseconds kBetween{200};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    addrinfo* found = nullptr;
    const int error = getaddrinfo(placement.master_address.c_str(), nullptr, nullptr, &found);
    if (error == 0) {
      freeaddrinfo(found);
      return;
    }
    if (std::chrono::steady_clock::now() + kBetween > deadline)
      throw std::runtime_error("MASTER_ADDR=" + placement.master_address + " did not resolve within " +
                               std::to_string(timeout.count()) + " s (" + gai_strerror(error) +
                               "): set it to the name or address of rank 0's host");
    std::this_thread::sleep_for(kBetween);
  }
}

// c10d waits for ever for the answer of something that listens and is no store, and twice as long as it is
// told for one that does not listen. Nothing else runs yet, so the process ends where it stands.
class Deadline {
 public:
  Deadline(const Placement& placement, std::chrono::seconds timeout)
      : message_("lockstep-train: rank " + std::to_string(placement.rank) +
                 ": training stopped: " + place_of_rendezvous(placement) + " did not answer within " +
                 std::to_string(timeout.count()) + " s: is rank 0 there, and the port its own?\n"),
        thread_([this, timeout] {
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, timeout, [this] { return met_; })) return;
          static_cast<void>(!write(STDERR_FILENO, message_.data(), message_.size()));
          _exit(1);
        }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      met_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::string message_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool met_ = false;
  std::thread thread_;  // last: it uses the others
};

constexpr std::chrono::seconds kLinger{1};
constexpr const char* kVerdict = "verdict";

std::vector<std::uint8_t> bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string text_of(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::string key_of(int rank) {
  return "present/" + std::to_string(rank);
}

// Every rank says that it is there and how it was told to train, and who is missed is named.
void await_everyone(c10d::Store& store, const Placement& placement, const std::string& configuration,
                    std::chrono::seconds timeout) {
  store.set(key_of(placement.rank), bytes_of(configuration));
  std::vector<std::string> keys;
  for (int rank = 0; rank < placement.world_size; ++rank) keys.push_back(key_of(rank));
  try {
    store.wait(keys, timeout);
  } catch (const std::exception&) {
    std::string missing;
    try {
      for (int rank = 0; rank < placement.world_size; ++rank) {
        if (!store.check({key_of(rank)})) missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
      }
    } catch (const std::exception&) {
      throw std::runtime_error("rank 0 gave up waiting for the others and ended " +
                               place_of_rendezvous(placement));
    }
    // Who began to wait a moment later asks the same: the store must still be there.
    if (placement.rank == 0) std::this_thread::sleep_for(kLinger);
    throw std::runtime_error("of " + std::to_string(placement.world_size) + " ranks these did not come to " +
                             place_of_rendezvous(placement) + " within " + std::to_string(timeout.count()) +
                             " s: " + missing);
  }
}

// Rank 0 compares all, so that the ranks which agree with it hear as well of the one that does not.
void agree(c10d::Store& store, const Placement& placement, const std::string& configuration) {
  std::string wrong;
  if (placement.rank == 0) {
    for (int rank = 1; rank < placement.world_size && wrong.empty(); ++rank)
      wrong = disagreement(configuration, text_of(store.get(key_of(rank))), rank);
    // A byte in front: stores do not tell an empty value from none.
    store.set(kVerdict, bytes_of("=" + wrong));
    if (!wrong.empty()) std::this_thread::sleep_for(kLinger);  // the others have to read it
  } else {
    // Who differs itself says that, be another one the first.
    wrong = disagreement(text_of(store.get(key_of(0))), configuration, placement.rank);
    if (wrong.empty()) wrong = text_of(store.get(kVerdict)).substr(1);
  }
  if (!wrong.empty()) throw std::runtime_error(wrong);
}

c10::intrusive_ptr<c10d::Store> rendezvous(const Placement& placement, std::chrono::seconds timeout) {
  await_resolution(placement, timeout);
  const Deadline deadline(placement, timeout);
  c10d::TCPStoreOptions options;
  options.port = placement.master_port;
  options.isServer = !placement.launcher_runs_store && placement.rank == 0;
  options.waitWorkers = false;
  options.timeout = 2 * timeout;  // so that the message is ours
  const auto open = [&] {
    try {
      return c10::make_intrusive<c10d::TCPStore>(placement.master_address, options);
    } catch (const std::exception& error) {
      if (options.isServer &&
          std::string_view(error.what()).find("address already in use") != std::string_view::npos)
        throw std::runtime_error("port " + std::to_string(placement.master_port) +
                                 " of this host is taken: choose another MASTER_PORT");
      throw;
    }
  };
  const auto store = open();
  store->setTimeout(timeout);
  return c10::make_intrusive<c10d::PrefixStore>("lockstep/" + std::to_string(placement.restart_count), store);
}

// Gloo resolves this machine's host name by default, which on many machines gives 127.0.0.1: good within the
// machine, useless across hosts. PyTorch's Python layer reads GLOO_SOCKET_IFNAME; here it has to be done by
// hand.
std::shared_ptr<gloo::transport::Device> network_device(const Placement& placement) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0')
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  if (is_loopback(placement.master_address))
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

int place_in(const std::vector<int>& ranks, int rank) {
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace

Connections::Connections(const Placement& placement, const std::string& configuration,
                         std::chrono::seconds timeout, const ComputeDevice& device, RankFaults& faults)
    : placement_(placement),
      timeout_(timeout),
      device_(device),
      faults_(faults),
      store_(rendezvous(placement, timeout)) {
  await_everyone(*store_, placement, configuration, timeout);
  agree(*store_, placement, configuration);
}

Connections::~Connections() = default;

c10::intrusive_ptr<c10d::Backend> Connections::gloo(const std::string& name,
                                                    const std::vector<int>& ranks) const {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout_);
  options->devices.push_back(network_device(placement_));
  options->threads = 1;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>(name, store_),
                                                     place_in(ranks, placement_.rank),
                                                     static_cast<int>(ranks.size()), options);
}

c10::intrusive_ptr<c10d::Backend> Connections::transport(const std::string& name,
                                                         const std::vector<int>& ranks) const {
  if (device_.nccl)
    return make_nccl_backend(c10::make_intrusive<c10d::PrefixStore>(name, store_),
                             place_in(ranks, placement_.rank), static_cast<int>(ranks.size()), timeout_);
  auto transport = gloo(name, ranks);
  if (faults_.slows_links()) transport = c10::make_intrusive<SlowLink>(std::move(transport), faults_);
  if (device_.is_cpu()) return transport;
  return c10::make_intrusive<StagedBackend>(std::move(transport));
}

std::unique_ptr<Stream> Connections::make_stream(const std::string& name) const {
  if (device_.is_cpu()) return std::make_unique<HostStream>(name);
  if (device_.nccl) return std::make_unique<DeviceStream>(device_.device, name);
  return std::make_unique<BlockingDeviceStream>(device_.device, name);
}

}  // namespace lockstep::trainer
