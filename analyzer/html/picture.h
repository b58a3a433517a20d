// What can be drawn beside a finding. A picture is two files of pictures/: NAME.cpp takes from the report
// what it shows (`pictures::NAME`), NAME.js draws that (`pictures.NAME`). The list is made of the folder by
// CMake. Internal.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "analyzer/diagnose/finding_kind.h"
#include "analyzer/html/group_numbers.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// What a picture is drawn of.
struct PictureContext {
  const Finding& finding;
  const FindingKind& kind;
  const Report& report;
  const GroupNumbers& groups;
};

struct PictureData {
  // An operation that it shows, as an index into Report::collectives. The page has it with the arrivals of
  // all ranks then, whatever was waited in it, and the drawing gets its place there as `collective`.
  std::optional<std::size_t> collective;
  // What the drawing gets beside `kind` (the picture's name) and the finding's `cause`.
  nlohmann::ordered_json members = nlohmann::ordered_json::object();
};

struct Picture {
  std::string_view name;  // that of its files: FindingKind::picture
  // nullopt where the report lacks what it shows.
  std::optional<PictureData> (*data)(const PictureContext& context);
};

// In the order of their names.
std::span<const Picture* const> all_pictures();
// nullptr if there is none of that name.
const Picture* find_picture(std::string_view name);

}  // namespace lockstep::analyzer
