// What opening a trace file yields: its tables, and where its events stand.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/events/event.h"
#include "trace/format/schema.h"

namespace lockstep::trace::format {

struct Contents {
  bool complete = false;
  bool has_gaps = false;  // damaged bytes between chunks: what they held is not known
  std::vector<std::string> warnings;
  std::map<std::string, std::string> metadata;
  std::vector<std::string_view> strings;  // into string_bodies
  std::deque<std::vector<std::byte>> string_bodies;
  std::vector<Lane> lanes;
  std::vector<Group> groups;
  std::vector<IndexEntry> events;  // chunks of known event kinds whose lane, if any, is in `lanes`
};

// `name` stands in the error. An error only where the file is no trace file of a version that can be read.
Result<Contents> read_contents(std::span<const std::byte> file, const std::string& name);

}  // namespace lockstep::trace::format
