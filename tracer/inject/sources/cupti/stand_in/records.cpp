#include "tracer/inject/sources/cupti/stand_in/records.h"

#include <cupti.h>

namespace lockstep::tracer::cupti::stand_in {

// What cupti_activity.h says of each version. 17 is CUDA 11.8, 18 to 28 CUDA 12.
std::size_t record_bytes(int kind, std::uint32_t version) {
  const bool cuda_13 = version >= 130000;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return cuda_13         ? sizeof(CUpti_ActivityKernel10)
             : version >= 18 ? sizeof(CUpti_ActivityKernel9)
                             : sizeof(CUpti_ActivityKernel8);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return cuda_13 ? sizeof(CUpti_ActivityMemcpy6) : sizeof(CUpti_ActivityMemcpy5);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return cuda_13 ? sizeof(CUpti_ActivitySynchronization2) : sizeof(CUpti_ActivitySynchronization);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return cuda_13 ? sizeof(CUpti_ActivityCudaEvent2) : sizeof(CUpti_ActivityCudaEvent);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return cuda_13         ? sizeof(CUpti_ActivityOverhead3)
             : version >= 20 ? sizeof(CUpti_ActivityOverhead2)
                             : sizeof(CUpti_ActivityOverhead);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(CUpti_ActivityContext);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    default:
      return 0;
  }
}

std::size_t largest_record_bytes() {
  return sizeof(CUpti_ActivityKernel10);
}

}  // namespace lockstep::tracer::cupti::stand_in
