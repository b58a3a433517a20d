// Writes the seeds of run_folder_fuzzer into a folder: what the recorder writes beside the traces.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;

constexpr auto kManifest =
    R"({"format": "lockstep-run-1", "world_size": 2, "exit_code": null, "signal": {"number": 9, "name": "SIGKILL"},
"command": ["python", "train.py"], "working_folder": "/job", "environment": {"NCCL_ALGO": "Ring"},
"interrupted": {"signal": {"number": 2, "name": "SIGINT"}, "time_realtime": 1700000000100000000},
"unrecorded": [{"reason": "it is statically linked", "processes": 18, "programs": ["/bin/job"]}], "ranks": [0, 1]})"sv;
constexpr auto kClocks =
    R"({"format": "lockstep.clock/1", "clock": "b", "peer": "a", "exchanges": [[10, 5, 6, 30], [40, 35, 35, 60]]})"sv;
constexpr auto kHang = R"({"rank": 1, "doing": "waits in recv", "threads": [{"name": "python"}]})"sv;

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: " << arguments[0] << " FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  const std::string zero(1, '\0');
  const std::string all = std::string(kManifest) + zero + std::string(kClocks) + zero + std::string(kHang);
  std::ofstream(folder / "all", std::ios::binary) << all;
  std::ofstream(folder / "manifest", std::ios::binary) << kManifest;
  std::ofstream(folder / "clocks", std::ios::binary) << zero << kClocks;
  std::ofstream(folder / "hang", std::ios::binary) << zero << zero << kHang;
  return 0;
}
