// Reads a Perfetto trace back, for tests: with protozero's reader, following the format's documentation and
// nothing of the writer but the field numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::analyzer {

struct DecodedSlice {
  std::uint64_t track = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
  std::string category;
  std::map<std::string, std::string> arguments;
  std::vector<std::uint64_t> flows, terminated_flows;
};

struct DecodedTrack {
  std::uint64_t parent = 0;
  std::string name;  // of the process, for a process track
  std::int32_t pid = -1;
  bool is_counter = false;
};

struct DecodedPoint {
  std::uint64_t track = 0;
  std::uint64_t time = 0;
  double value = 0;
};

struct DecodedTrace {
  std::map<std::uint64_t, DecodedTrack> tracks;
  std::vector<DecodedSlice> slices;  // in the order of their ends
  std::vector<DecodedPoint> points;  // of counters
  std::map<std::uint32_t, std::uint64_t> clocks;
  // What breaks the rules: an end without a begin, a begin without an end, a time before the one before it in
  // its sequence, an unknown interned id, a track that was not described, a sequence that does not clear its
  // state.
  std::vector<std::string> faults;
};

DecodedTrace decode_perfetto(std::string_view bytes);

}  // namespace lockstep::analyzer
