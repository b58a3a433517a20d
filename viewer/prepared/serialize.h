// Contents to bytes and back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "viewer/prepared/contents.h"

namespace lockstep::viewer {

std::string serialize(const Contents& contents);
// An error where the bytes are not what serialize() wrote.
Result<Contents> deserialize(std::string_view bytes);

// Differs wherever what is written would be laid out differently: TablesKey::layout.
std::uint64_t layout_of_contents();

}  // namespace lockstep::viewer
