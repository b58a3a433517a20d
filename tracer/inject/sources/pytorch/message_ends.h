// When messages of Gloo are over: its transport says so on a thread of its own, as soon as the bytes have
// arrived or were handed to the kernel. The program often waits much later: a pipeline's schedule asks for a
// message long before it needs it, and looks after what it has sent at the end of the step.
#pragma once

#include <string>

namespace lockstep::tracer::pytorch {

// Follows the ends of all messages of Gloo's TCP transport. Empty if all is well, else what can't be
// recorded: then a message ends where the program has waited for it. Called once.
std::string follow_message_ends();

}  // namespace lockstep::tracer::pytorch
