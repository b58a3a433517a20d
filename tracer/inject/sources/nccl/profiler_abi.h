// What passes between libnccl and a profiler plugin, in the six versions of its interface: v1 of NCCL 2.23,
// v2 of 2.24, v3 of 2.26, v4 of 2.27, v5 of 2.28, v6 of 2.29. Declarations of our own, laid out as libnccl
// lays them out; profiler_abi_test.cpp holds sizes and offsets to those of NCCL.
//
// libnccl looks for the newest table that it knows, so that all of them are there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::tracer::nccl::abi {

using Status = int;  // ncclResult_t
inline constexpr Status kSuccess = 0;

// Bits of an event's type, and of the mask of those that a plugin wants.
enum EventType : std::uint32_t {
  kGroup = 1U << 0U,  // one kernel, and the operations in it, is handed to the network's helper threads
  kCollective = 1U << 1U,
  kPointToPoint = 1U << 2U,
  kProxyOperation = 1U << 3U,
  kProxyStep = 1U << 4U,
  kProxyControl = 1U << 5U,
  kKernelChannel = 1U << 6U,
  kNetwork = 1U << 7U,
  kGroupCall = 1U << 8U,  // from v5: what the program called
  kCollectiveCall = 1U << 9U,
  kPointToPointCall = 1U << 10U,
  kKernelLaunch = 1U << 11U,
  kCopyEngineCollective = 1U << 12U,  // from v6: by copies, without a kernel
};

// --- parts of descriptors ---

struct ProxyOperation {
  std::int32_t process;  // that began the operation, perhaps another one
  std::uint8_t channel;
  std::int32_t peer;  // rank in the communicator
  std::int32_t steps;
  std::int32_t chunk_bytes;
  std::int32_t is_send;
};
struct ProxyStep {
  std::int32_t step;
};
struct KernelChannelV3 {
  std::uint8_t channel;
};
struct KernelChannelV4 {
  std::uint8_t channel;
  std::uint64_t gpu_time;
};
struct Network {
  std::int64_t id;
  void* data;
};

// Numbers in v1, texts from v2 on.
struct CollectiveV1 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;
  std::uint8_t function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  std::int32_t root;
  std::uint8_t data_type;
  std::uint32_t reduction;
  std::size_t traffic_bytes;
  std::uint8_t channels;
  std::uint8_t warps;
  std::uint8_t algorithm;
  std::uint8_t protocol;
  std::int32_t is_collnet;
  std::int32_t is_nvls;
};
struct PointToPointV1 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint8_t function;
  void* buffer;
  std::uint8_t data_type;
  std::size_t count;
  std::int32_t peer;
};
struct CollectiveV2 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  std::int32_t root;
  const char* data_type;
  std::size_t traffic_bytes;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct CollectiveV3 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  std::int32_t root;
  const char* data_type;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct PointToPointV2 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  const char* function;
  void* buffer;
  const char* data_type;
  std::size_t count;
  std::int32_t peer;
};
struct CollectiveV4 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  std::int32_t root;
  const char* data_type;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct PointToPointV4 {
  const char* function;
  void* buffer;
  const char* data_type;
  std::size_t count;
  std::int32_t peer;
  std::uint8_t channels;
};
struct CollectiveV5 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  std::int32_t root;
  const char* data_type;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
  void* group;  // handle of the kGroup event: from v5 on the parent is the call
};
struct PointToPointV5 {
  const char* function;
  void* buffer;
  const char* data_type;
  std::size_t count;
  std::int32_t peer;
  std::uint8_t channels;
  void* group;
};
struct GroupCall {
  bool captured;  // into a CUDA graph
  std::int32_t depth;
};
struct CollectiveCall {
  const char* function;
  std::size_t count;
  const char* data_type;
  std::int32_t root;
  void* stream;
  bool captured;
};
struct PointToPointCall {
  const char* function;
  std::size_t count;
  const char* data_type;
  void* stream;
  bool captured;
};
struct KernelLaunch {
  void* stream;
};
struct CopyEngineCollective {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  std::int32_t root;
  const char* data_type;
  const char* synchronisation;
  bool synchronises_within_batch;
  std::uint32_t batch_size;
  std::uint32_t batches;
  std::uint32_t copy_engine_sequence;
  void* stream;
};

// --- descriptors ---

template <class Type, class Details>
struct Descriptor {
  Type type;
  void* parent;
  std::int32_t rank;  // in the communicator
  Details details;
};
union DetailsV1 {
  CollectiveV1 collective;
  PointToPointV1 point_to_point;
  ProxyOperation proxy_operation;
  ProxyStep proxy_step;
};
union DetailsV2 {
  CollectiveV2 collective;
  PointToPointV2 point_to_point;
  ProxyOperation proxy_operation;
  ProxyStep proxy_step;
};
union DetailsV3 {
  CollectiveV3 collective;
  PointToPointV2 point_to_point;
  ProxyOperation proxy_operation;
  ProxyStep proxy_step;
  KernelChannelV3 kernel_channel;
  Network network;
};
union DetailsV4 {
  CollectiveV4 collective;
  PointToPointV4 point_to_point;
  ProxyOperation proxy_operation;
  ProxyStep proxy_step;
  KernelChannelV4 kernel_channel;
  Network network;
};
union DetailsV5 {
  GroupCall group_call;
  CollectiveCall collective_call;
  PointToPointCall point_to_point_call;
  KernelLaunch kernel_launch;
  CollectiveV5 collective;
  PointToPointV5 point_to_point;
  ProxyOperation proxy_operation;
  ProxyStep proxy_step;
  KernelChannelV4 kernel_channel;
  Network network;
};
union DetailsV6 {
  GroupCall group_call;
  CollectiveCall collective_call;
  PointToPointCall point_to_point_call;
  KernelLaunch kernel_launch;
  CollectiveV5 collective;
  PointToPointV5 point_to_point;
  ProxyOperation proxy_operation;
  ProxyStep proxy_step;
  KernelChannelV4 kernel_channel;
  Network network;
  CopyEngineCollective copy_engine_collective;
};
using DescriptorV1 = Descriptor<std::uint8_t, DetailsV1>;
using DescriptorV2 = Descriptor<std::uint8_t, DetailsV2>;
using DescriptorV3 = Descriptor<std::uint8_t, DetailsV3>;
using DescriptorV4 = Descriptor<std::uint8_t, DetailsV4>;
using DescriptorV5 = Descriptor<std::uint64_t, DetailsV5>;
using DescriptorV6 = Descriptor<std::uint64_t, DetailsV6>;

// What a change of state tells: before v4 of an operation, from v4 on of a step.
struct TransferredV1 {
  std::size_t bytes;
  std::int32_t steps;
};
union StateV1 {
  TransferredV1 proxy_operation;
  std::int32_t appended;
};
union StateV4 {
  std::size_t step_bytes;
  std::int32_t appended;
  void* network;
  std::uint64_t gpu_time;
};

// --- tables ---

using InitV1 = Status (*)(void** context, std::int32_t* mask);
using InitV4 = Status (*)(void** context, std::int32_t* mask, const char* name, std::uint64_t hash,
                          std::int32_t nodes, std::int32_t ranks, std::int32_t rank, void* logger);
using InitV5 = Status (*)(void** context, std::uint64_t hash, std::int32_t* mask, const char* name,
                          std::int32_t nodes, std::int32_t ranks, std::int32_t rank, void* logger);

template <class Init, class Event, class State>
struct Table {
  using EventDescriptor = Event;

  const char* name;
  Init init;  // of one communicator
  Status (*start_event)(void* context, void** handle, Event* event);
  Status (*stop_event)(void* handle);
  Status (*record_event_state)(void* handle, std::int32_t state, State* arguments);
  Status (*finalize)(void* context);
};
using TableV1 = Table<InitV1, DescriptorV1, StateV1>;
using TableV2 = Table<InitV1, DescriptorV2, StateV1>;
using TableV3 = Table<InitV1, DescriptorV3, StateV1>;
using TableV4 = Table<InitV4, DescriptorV4, StateV4>;
using TableV5 = Table<InitV5, DescriptorV5, StateV4>;
using TableV6 = Table<InitV5, DescriptorV6, StateV4>;

}  // namespace lockstep::tracer::nccl::abi
