// The works of MPI's and UCC's process groups: when they are over, and when a thread of the program waits for
// one.
//
// The one thread of an MPI group carries out collectives in their order and says of each that it is over by
// c10d::Work::finish, a call within libtorch_cpu that can be redirected. UCC's thread tells nobody but who
// waits: there, and for MPI's messages, a work is over when a wait for it returns. Waiting is a virtual
// function of the work.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::tracer::pytorch {

// Follows the works of this backend's groups, as PyTorch names it; one of which nothing is known here changes
// nothing. Empty if all is well, else what can't be recorded. Call it under a lock; again it changes nothing.
std::string follow_works_of(std::string_view backend);

}  // namespace lockstep::tracer::pytorch
