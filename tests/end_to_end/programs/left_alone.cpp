// Uses NVTX from several threads, and ends with exit code 7. Built in ways that a recorder can't enter.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <thread>
#include <vector>

int main() {
  nvtxRangePushA("main");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 1000; ++k) {
        nvtxRangePushA("work");
        nvtxRangePop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  nvtxRangePop();
  std::puts("done");
  return 7;
}
