// Sizes and offsets of what libnccl hands over, as its headers of 2.23 to 2.30 have them on x86-64.
#include "tracer/inject/sources/nccl/profiler_abi.h"

#include <gtest/gtest.h>

namespace lockstep::tracer::nccl::abi {
namespace {

static_assert(sizeof(void*) == 8);
static_assert(sizeof(DescriptorV1) == 120 && sizeof(DescriptorV2) == 128 && sizeof(DescriptorV3) == 120);
static_assert(sizeof(DescriptorV4) == 104 && sizeof(DescriptorV5) == 112 && sizeof(DescriptorV6) == 112);
static_assert(sizeof(StateV1) == 16 && sizeof(StateV4) == 8);
static_assert(sizeof(TableV1) == 48 && sizeof(TableV4) == 48 && sizeof(TableV5) == 48 &&
              sizeof(TableV6) == 48);

template <class Event>
constexpr bool begins_as_all_do() {
  return offsetof(Event, type) == 0 && offsetof(Event, parent) == 8 && offsetof(Event, rank) == 16 &&
         offsetof(Event, details) == 24;
}
static_assert(begins_as_all_do<DescriptorV1>() && begins_as_all_do<DescriptorV2>() &&
              begins_as_all_do<DescriptorV3>() && begins_as_all_do<DescriptorV4>() &&
              begins_as_all_do<DescriptorV5>() && begins_as_all_do<DescriptorV6>());
static_assert(sizeof(DescriptorV4::type) == 1 && sizeof(DescriptorV5::type) == 8);

// Within the union, which begins at 24.
static_assert(offsetof(CollectiveV1, communicator_hash) == 8 && offsetof(CollectiveV1, sequence) == 16);
static_assert(offsetof(CollectiveV1, function) == 24 && offsetof(CollectiveV1, count) == 48);
static_assert(offsetof(CollectiveV1, root) == 56 && offsetof(CollectiveV1, data_type) == 60);
static_assert(offsetof(CollectiveV1, channels) == 80 && offsetof(CollectiveV1, algorithm) == 82);
static_assert(offsetof(CollectiveV1, protocol) == 83 && sizeof(CollectiveV1) == 96);
static_assert(offsetof(PointToPointV1, function) == 16 && offsetof(PointToPointV1, data_type) == 32);
static_assert(offsetof(PointToPointV1, count) == 40 && offsetof(PointToPointV1, peer) == 48);

static_assert(offsetof(CollectiveV2, function) == 24 && offsetof(CollectiveV2, data_type) == 64);
static_assert(offsetof(CollectiveV2, traffic_bytes) == 72 && offsetof(CollectiveV2, channels) == 80);
static_assert(offsetof(CollectiveV2, algorithm) == 88 && offsetof(CollectiveV2, protocol) == 96);
static_assert(offsetof(CollectiveV3, channels) == 72 && offsetof(CollectiveV3, algorithm) == 80);
static_assert(offsetof(CollectiveV3, protocol) == 88 && sizeof(CollectiveV3) == 96);
static_assert(offsetof(PointToPointV2, data_type) == 32 && offsetof(PointToPointV2, peer) == 48);

static_assert(offsetof(CollectiveV4, sequence) == 0 && offsetof(CollectiveV4, function) == 8);
static_assert(offsetof(CollectiveV4, count) == 32 && offsetof(CollectiveV4, root) == 40);
static_assert(offsetof(CollectiveV4, data_type) == 48 && offsetof(CollectiveV4, channels) == 56);
static_assert(offsetof(CollectiveV4, algorithm) == 64 && offsetof(CollectiveV4, protocol) == 72);
static_assert(offsetof(PointToPointV4, data_type) == 16 && offsetof(PointToPointV4, count) == 24);
static_assert(offsetof(PointToPointV4, peer) == 32 && offsetof(PointToPointV4, channels) == 36);
static_assert(offsetof(CollectiveV5, protocol) == 72 && offsetof(CollectiveV5, group) == 80);
static_assert(offsetof(PointToPointV5, channels) == 36 && offsetof(PointToPointV5, group) == 40);

static_assert(offsetof(GroupCall, captured) == 0 && offsetof(GroupCall, depth) == 4);
static_assert(offsetof(CollectiveCall, data_type) == 16 && offsetof(CollectiveCall, captured) == 40);
static_assert(offsetof(PointToPointCall, data_type) == 16 && offsetof(PointToPointCall, captured) == 32);
static_assert(offsetof(CopyEngineCollective, data_type) == 48 &&
              offsetof(CopyEngineCollective, stream) == 80);
static_assert(sizeof(CopyEngineCollective) == 88);
static_assert(offsetof(ProxyOperation, channel) == 4 && offsetof(ProxyOperation, peer) == 8);
static_assert(offsetof(ProxyOperation, steps) == 12 && offsetof(ProxyOperation, chunk_bytes) == 16);
static_assert(offsetof(ProxyOperation, is_send) == 20 && sizeof(ProxyOperation) == 24);

TEST(ProfilerAbi, IsCheckedWhenItIsCompiled) {
  EXPECT_EQ(kCopyEngineCollective, 1U << 12U);
  EXPECT_EQ(kKernelLaunch, 2048U);
}

}  // namespace
}  // namespace lockstep::tracer::nccl::abi
