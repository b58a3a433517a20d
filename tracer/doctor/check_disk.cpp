// Where the run is written.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tracer/doctor/checks.h"
#include "tracer/protocol/source_table.h"

namespace lockstep::tracer::doctor {

namespace {

struct FileSystem {
  std::uint64_t type;  // statfs(2)
  const char* name;
  bool is_shared;
};
constexpr std::array kFileSystems{
    FileSystem{0xEF53, "ext4", false},        FileSystem{0x58465342, "XFS", false},
    FileSystem{0x9123683E, "Btrfs", false},   FileSystem{0x2FC12FC1, "ZFS", false},
    FileSystem{0x6969, "NFS", true},          FileSystem{0x0BD00BD0, "Lustre", true},
    FileSystem{0x47504653, "GPFS", true},     FileSystem{0x00C36400, "Ceph", true},
    FileSystem{0x19830326, "BeeGFS", true},   FileSystem{0xFF534D42, "CIFS", true},
    FileSystem{0xFE534D42, "SMB", true},      FileSystem{0x65735546, "FUSE", true},
    FileSystem{0x794C7630, "overlay", false}, FileSystem{0x01021994, "tmpfs", false},
    FileSystem{0x858458F6, "ramfs", false},   FileSystem{0x01021997, "9p", true},
};
constexpr std::uint64_t kLittleSpace = std::uint64_t{2} << 30U;
// Eight ranks of a hundred thousand events a second each write about this much.
constexpr double kSlowBytesPerSecond = 20e6;

const FileSystem* find(std::uint64_t type) {
  for (const FileSystem& known : kFileSystems) {
    if (known.type == type) return &known;
  }
  return nullptr;
}

std::string megabytes(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.1f} GB", bytes / 1e9) : fmt::format("{:.0f} MB", bytes / 1e6);
}

void check_file_system(const Situation& situation, const FileSystemFacts& facts, Checks& checks) {
  const FileSystem* const known = find(facts.type);
  Check check{"disk.file_system", {}, State::ok, "", "", {}};
  const std::string name = known != nullptr ? known->name : fmt::format("type {:#x}", facts.type);
  check.values = {{"file_system", name},
                  {"free_bytes", std::to_string(facts.free_bytes)},
                  {"total_bytes", std::to_string(facts.total_bytes)}};
  check.finding = fmt::format("{}: {}, {} free", situation.folder, name,
                              megabytes(static_cast<double>(facts.free_bytes)));
  if (facts.free_bytes < kLittleSpace) {
    check.state = State::limited;
    check.finding += ": a long run may fill it; recording then stops, the job goes on";
    check.remedy = "another folder: lockstep record -o /path/with/space/RUN";
  } else if (known != nullptr && (name == "tmpfs" || name == "ramfs")) {
    check.state = State::limited;
    check.finding += ": it takes memory from the job, and is gone with the node or container";
    check.remedy = "a folder on disk: lockstep record -o /path/on/disk/RUN";
  } else if (name == "overlay") {
    check.state = State::limited;
    check.finding += ": it is gone with the container";
    check.remedy = "a folder that is mounted into the container: lockstep record -o /mounted/RUN";
  } else if (known != nullptr && known->is_shared) {
    check.state = State::note;
    check.finding +=
        ": shared, so all nodes can write one run; should it stall, events are lost and counted, the job "
        "goes on";
  }
  checks.push_back(check);
}

}  // namespace

void check_disk(const Situation& situation, Checks& checks) {
  const Machine& machine = situation.machine;
  if (const auto facts = machine.file_system(situation.folder)) check_file_system(situation, *facts, checks);
  const WriteRate rate = machine.measure_writing(situation.folder);
  Check check{"disk.writing", {}, State::ok, "", "", {}};
  if (!rate.problem.empty()) {
    // Of every source, since without a file there is no recording.
    check.sources = {kSourceNames.begin(), kSourceNames.end()};
    check.state = State::missing;
    check.finding = fmt::format("cannot write in {}: {}", situation.folder, rate.problem);
    check.remedy = "another folder: lockstep record -o /path/that/can/be/written/RUN";
  } else {
    const double seconds = static_cast<double>(std::max<std::int64_t>(rate.nanoseconds, 1)) * 1e-9;
    const double per_second = static_cast<double>(rate.bytes) / seconds;
    check.values["bytes_per_second"] = fmt::format("{:.0f}", per_second);
    check.finding = fmt::format("writing {}/s (measured over {})", megabytes(per_second),
                                megabytes(static_cast<double>(rate.bytes)));
    if (per_second < kSlowBytesPerSecond) {
      check.state = State::limited;
      check.finding += ": slow for many ranks that write here";
      check.remedy = "a local disk: lockstep record -o /local/RUN";
    }
  }
  checks.push_back(check);
}

}  // namespace lockstep::tracer::doctor
