// What liblockstep-inject.so exports to libnccl (NCCL_PROFILER_PLUGIN).
#pragma once

#include "tracer/inject/sources/nccl/profiler_abi.h"

extern "C" {
__attribute__((visibility("default"))) extern lockstep::tracer::nccl::abi::TableV1 ncclProfiler_v1;
__attribute__((visibility("default"))) extern lockstep::tracer::nccl::abi::TableV2 ncclProfiler_v2;
__attribute__((visibility("default"))) extern lockstep::tracer::nccl::abi::TableV3 ncclProfiler_v3;
__attribute__((visibility("default"))) extern lockstep::tracer::nccl::abi::TableV4 ncclProfiler_v4;
__attribute__((visibility("default"))) extern lockstep::tracer::nccl::abi::TableV5 ncclProfiler_v5;
__attribute__((visibility("default"))) extern lockstep::tracer::nccl::abi::TableV6 ncclProfiler_v6;
}
