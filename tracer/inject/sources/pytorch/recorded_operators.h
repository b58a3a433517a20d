// Modules and operators of PyTorch, on request (`record --operators`, LOCKSTEP_OPERATORS=1). Modules are told
// by the start-up hook (hook/lockstep_operators.py); operators and nodes of autograd come from an observer of
// libtorch's RecordFunction. Of operators only those that no other operator and no node of autograd called.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::tracer::pytorch {

// Whether they are asked for.
bool operators_are_wanted() noexcept;

// Empty if all is well, else why not. Calling it again changes nothing.
std::string follow_operators();

// A module's call begins and ends on this thread. `begin` returns what `end` wants to have.
std::uint32_t begin_module(const char* name) noexcept;
void end_module(std::uint32_t depth) noexcept;

}  // namespace lockstep::tracer::pytorch
