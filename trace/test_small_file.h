// For the tests of damage.
#pragma once

#include <string>
#include <vector>

#include "trace/test_support.h"

namespace lockstep::trace::test {

inline constexpr std::uint32_t kLanes = 3;

inline constexpr std::uint32_t kGroups = 2;

// A small file with every kind of chunk, and what it holds.
struct SmallFile {
  explicit SmallFile(bool closed) {
    TemporaryFolder folder;
    RandomEvents random(7);
    WriterOptions options;
    options.events_per_chunk = 8;
    Writer writer = must(Writer::create((folder / "small.lst").c_str(), options));
    writer.set_metadata("rank", "3");
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      writer.add_lane({.name = "lane " + std::to_string(lane)});
    for (std::uint32_t group = 0; group < kGroups; ++group)
      writer.add_group({.name = "group", .ranks = {0, 1}});
    for (int i = 0; i < 150; ++i) {
      writer.intern("name " + std::to_string(i / 2));
      append_random(random, kLanes, kGroups, writer, record);
      if (i % 50 == 49) expect_ok(writer.flush());
    }
    strings = 76;
    if (closed) expect_ok(writer.close());
    bytes = read_file(folder / "small.lst");
  }

  std::vector<std::byte> bytes;
  Record record;
  std::size_t strings = 0;
};

}  // namespace lockstep::trace::test
