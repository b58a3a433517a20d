// A JSON object that stands beside the traces, with a checksum of its text as its last member: a flipped bit
// in a number of it is a number all the same.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::trace {

// `json`: an object with a member at least.
std::string with_checksum(std::string_view json);

// False where the text ends with the checksum of another one. Where it ends with none there is nothing to
// hold it to: older recorders wrote none, and who changes one by hand may leave it out.
bool matches_checksum(std::string_view json);

}  // namespace lockstep::trace
