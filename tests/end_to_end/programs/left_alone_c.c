// Uses NVTX and ends with exit code 7, as left_alone.cpp does, but in C: DataFlowSanitizer needs every library
// that is called to be built with it, and knows libc's functions alone.
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

int main(void) {
  for (int i = 0; i < 4001; ++i) {
    nvtxRangePushA("work");
    nvtxRangePop();
  }
  puts("done");
  return 7;
}
