// The records that are read, by the oldest layout that has all that is needed of them.
//
// CUPTI's layouts only ever grow at their ends: what CUDA 11.8 wrote where, CUDA 12 and 13 write there too
// (it is asserted below for the headers that this was built with). So nothing here depends on which version
// made a record, and fields that came later are not touched. How long a record is, only CUPTI knows
// (cuptiActivityGetNextRecord).
#pragma once

#include <cupti.h>

#include <cstddef>

namespace lockstep::tracer::cupti {

using KernelRecord = CUpti_ActivityKernel5;  // with graph node and graph
using MemcpyRecord = CUpti_ActivityMemcpy4;
using PeerMemcpyRecord = CUpti_ActivityMemcpyPtoP3;
using MemsetRecord = CUpti_ActivityMemset3;
using SynchronizationRecord = CUpti_ActivitySynchronization;
using EventRecord = CUpti_ActivityCudaEvent;
using OverheadRecord = CUpti_ActivityOverhead;
using ApiRecord = CUpti_ActivityAPI;

#if CUPTI_API_VERSION >= 130000
#define LOCKSTEP_SAME_PLACE(Old, New, field) \
  static_assert(offsetof(Old, field) == offsetof(New, field) && sizeof(Old::field) == sizeof(New::field))
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, start);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, end);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, deviceId);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, contextId);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, streamId);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, correlationId);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, name);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, gridX);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, gridY);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, gridZ);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, blockX);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, blockY);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, blockZ);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, graphNodeId);
LOCKSTEP_SAME_PLACE(KernelRecord, CUpti_ActivityKernel10, graphId);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, copyKind);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, bytes);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, start);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, end);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, deviceId);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, contextId);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, streamId);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, correlationId);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, graphNodeId);
LOCKSTEP_SAME_PLACE(MemcpyRecord, CUpti_ActivityMemcpy6, graphId);
LOCKSTEP_SAME_PLACE(PeerMemcpyRecord, CUpti_ActivityMemcpyPtoP4, bytes);
LOCKSTEP_SAME_PLACE(PeerMemcpyRecord, CUpti_ActivityMemcpyPtoP4, start);
LOCKSTEP_SAME_PLACE(PeerMemcpyRecord, CUpti_ActivityMemcpyPtoP4, end);
LOCKSTEP_SAME_PLACE(PeerMemcpyRecord, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
LOCKSTEP_SAME_PLACE(PeerMemcpyRecord, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
LOCKSTEP_SAME_PLACE(PeerMemcpyRecord, CUpti_ActivityMemcpyPtoP4, correlationId);
LOCKSTEP_SAME_PLACE(PeerMemcpyRecord, CUpti_ActivityMemcpyPtoP4, graphNodeId);
LOCKSTEP_SAME_PLACE(PeerMemcpyRecord, CUpti_ActivityMemcpyPtoP4, graphId);
LOCKSTEP_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset4, bytes);
LOCKSTEP_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset4, start);
LOCKSTEP_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset4, end);
LOCKSTEP_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset4, deviceId);
LOCKSTEP_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset4, correlationId);
LOCKSTEP_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset4, graphNodeId);
LOCKSTEP_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset4, graphId);
LOCKSTEP_SAME_PLACE(SynchronizationRecord, CUpti_ActivitySynchronization2, start);
LOCKSTEP_SAME_PLACE(SynchronizationRecord, CUpti_ActivitySynchronization2, end);
LOCKSTEP_SAME_PLACE(SynchronizationRecord, CUpti_ActivitySynchronization2, correlationId);
LOCKSTEP_SAME_PLACE(SynchronizationRecord, CUpti_ActivitySynchronization2, contextId);
LOCKSTEP_SAME_PLACE(SynchronizationRecord, CUpti_ActivitySynchronization2, streamId);
LOCKSTEP_SAME_PLACE(SynchronizationRecord, CUpti_ActivitySynchronization2, cudaEventId);
LOCKSTEP_SAME_PLACE(EventRecord, CUpti_ActivityCudaEvent2, streamId);
LOCKSTEP_SAME_PLACE(EventRecord, CUpti_ActivityCudaEvent2, eventId);
LOCKSTEP_SAME_PLACE(OverheadRecord, CUpti_ActivityOverhead3, overheadKind);
LOCKSTEP_SAME_PLACE(OverheadRecord, CUpti_ActivityOverhead3, objectId);
LOCKSTEP_SAME_PLACE(OverheadRecord, CUpti_ActivityOverhead3, start);
LOCKSTEP_SAME_PLACE(OverheadRecord, CUpti_ActivityOverhead3, end);
#undef LOCKSTEP_SAME_PLACE
#endif

}  // namespace lockstep::tracer::cupti
