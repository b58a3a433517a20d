// Writes seeds of the fuzzer of NCCL's logs into a folder: what versions of NCCL say. Deterministic.
//
//   nccl_log_fuzzer_seeds FOLDER
#include <stdio.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

constexpr const char* kOld =
    "NCCL version 2.10.3+cuda11.3\n"
    "node0:10:11 [0] NCCL INFO Channel 00 : 0[1000] -> 1[2000] via SHM/direct/direct\n"
    "node0:10:11 [0] NCCL INFO Channel 01 : 1[2000] -> 0[1000] [receive] via NET/IB/0/GDRDMA\n"
    "node0:10:11 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n";

constexpr const char* kNew =
    "[2026-01-02 03:04:05] node0:20:21 [0] NCCL INFO [Rank 1] ncclCommInitRank comm 0x1 rank 1 nranks 4 "
    "cudaDev 0 nvmlDev 0 busId 1000 commId 0xabc - Init START\n"
    "node0:20:21 [0] NCCL INFO Channel 02/0 : 1[0] -> 2[1] via P2P/CUMEM/read\n"
    "node0:20:21 [0] NCCL INFO Channel 03/0 : 1[0] -> 3[0] [send] via NET/AWS "
    "Libfabric/0(2)/GDRDMA(PCI)/Shared\n"
    "node0:20:21 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 1 nranks 4 cudaDev 0 nvmlDev 0 busId 1000 "
    "commId 0xabc - Init COMPLETE\n"
    "node0:20:21 [0] NCCL INFO ncclCommSplit comm 0x2 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 parent "
    "0x1 childCount 1 color 5 key 0- Init START\n"
    "node0:20:99 [0] NCCL INFO Channel 00/1 : 0[0] -> 1[1] via P2P/direct pointer\n";

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::ofstream(folder / "old.log", std::ios::binary) << kOld;
  std::ofstream(folder / "new.log", std::ios::binary) << kNew;
  return 0;
}
