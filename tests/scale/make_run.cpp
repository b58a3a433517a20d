// Writes a recorded run of any size, as `lockstep record` would leave it: so that it can be told how an
// analysis grows with ranks, steps and activities.
//
//   lockstep_make_run FOLDER RANKS STEPS ACTIVITIES [COLLECTIVES]
//
// ACTIVITIES a rank, over all steps; COLLECTIVES a step, of all ranks (2 by default). Rank r of a step begins
// up to 3 % later than rank 0, and every seventh rank computes 2 % longer.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "trace/checked_json.h"
#include "trace/writer.h"

namespace lockstep {
namespace {

struct Size {
  std::int32_t ranks = 1;
  std::int64_t steps = 1;
  std::int64_t activities = 1;
  std::int64_t collectives = 2;
};

bool write_rank(const std::string& folder, std::int32_t number, const Size& size) {
  using namespace trace;
  Result<Writer> created = Writer::create((folder + "/rank-" + std::to_string(number) + ".lst").c_str());
  if (!created.ok()) return false;
  Writer writer = std::move(created).value();
  writer.set_metadata("rank", std::to_string(number));
  writer.set_metadata("world_size", std::to_string(size.ranks));
  writer.set_metadata("host", "node" + std::to_string(number / 8));
  writer.set_metadata("process", std::to_string(1000 + number));
  writer.set_metadata("clock_id", "one clock for all");
  Group group{"world", "", std::vector<std::int32_t>(static_cast<std::size_t>(size.ranks)), number,
              size.ranks};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  const GroupId world = writer.add_group(group);
  const LaneId host = writer.add_lane({LaneKind::host_thread, 1, 1, 0, "main"});
  const LaneId compute = writer.add_lane({LaneKind::device_stream, 1, 7, 0, "stream 7"});
  const LaneId communication = writer.add_lane({LaneKind::device_stream, 1, 13, 0, "stream 13"});
  StringId names[16];
  for (int i = 0; i < 16; ++i) names[i] = writer.intern("kernel " + std::to_string(i));
  const StringId reduce = writer.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  std::mt19937 random(static_cast<unsigned>(number));
  writer.append(ClockSnapshot{.time = 0, .realtime = 1'700'000'000'000'000'000});
  const std::int64_t per_step = std::max<std::int64_t>(1, size.activities / size.steps);
  const Nanoseconds length = per_step * 10'000 + size.collectives * 60'000;
  std::uint64_t correlation = 1;
  for (std::int64_t step = 0; step < size.steps; ++step) {
    const Nanoseconds begin = step * (length + 20'000);
    Nanoseconds now = begin + static_cast<Nanoseconds>(random() % 300);
    for (std::int64_t i = 0; i < per_step; ++i) {
      const auto longer = static_cast<Nanoseconds>(random() % 8000) * (number % 7 == 3 ? 102 : 100) / 100;
      writer.append(ApiCall{host, now - 700, now - 500, names[i % 16], correlation});
      writer.append(DeviceActivity{.lane = compute,
                                   .begin = now,
                                   .end = now + 1000 + longer,
                                   .name = names[i % 16],
                                   .activity_class = ActivityClass::compute,
                                   .correlation = correlation++});
      now += 1100 + longer;
    }
    for (std::int64_t i = 0; i < size.collectives; ++i) {
      // All end together.
      const Nanoseconds end = begin + per_step * 10'000 + (i + 1) * 60'000;
      const Nanoseconds start = std::min(now, end - 20'000);
      writer.append(ApiCall{host, start - 700, start - 500, reduce, correlation});
      Collective collective;
      collective.lane = communication;
      collective.begin = start;
      collective.end = end;
      collective.name = reduce;
      collective.group = world;
      collective.correlation = correlation++;
      collective.bytes = 1 << 20;
      collective.operation = Operation::all_reduce;
      collective.sequence = step * size.collectives + i;
      writer.append(collective);
      now = end + 100;
    }
    writer.append(Step{host, begin - 1000, begin + length, step});
  }
  writer.append(ClockSnapshot{.time = size.steps * (length + 20'000),
                              .realtime = 1'700'000'000'000'000'000 + size.steps * (length + 20'000)});
  return writer.close().ok();
}

int make_run(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("usage: lockstep_make_run FOLDER RANKS STEPS ACTIVITIES [COLLECTIVES]\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  Size size{std::atoi(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]), argc > 5 ? std::atoll(argv[5]) : 2};
  if (size.ranks < 1 || size.steps < 1 || size.activities < 1 || size.collectives < 0) {
    std::fputs("lockstep_make_run: RANKS, STEPS and ACTIVITIES are positive numbers\n", stderr);
    return 2;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (std::int32_t rank = 0; rank < size.ranks; ++rank)
    if (!write_rank(folder, rank, size)) {
      std::fprintf(stderr, "lockstep_make_run: cannot write rank %d into '%s'\n", rank, folder.c_str());
      return 1;
    }
  std::ofstream(folder + "/manifest.json") << trace::with_checksum(
      R"({"format": "lockstep.run/1", "state": "finished", "exit_code": 0, "world_size": )" +
      std::to_string(size.ranks) + "}");
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  return lockstep::make_run(argc, argv);
}
