// How ranges of forward passes are named that no wrapper of PyTorch's names, and how ranges of modules and
// operators (`record --operators`) and of places in Python (`record --stacks N`) are told from other host
// ranges: by their category.
#pragma once

namespace lockstep::trace {

// Of all of them; a program's own categories may have the same names.
inline constexpr const char* kOperatorDomain = "PyTorch";
// The call of a module, named by its place in the model: "layers.7.mlp"; of the outermost one by its class.
inline constexpr const char* kModuleCategory = "module";
// Nodes of autograd, one after the other, that belong to the same module's call.
inline constexpr const char* kModuleBackwardCategory = "module backward";
// An operator that no other one called, or a node of autograd.
inline constexpr const char* kOperatorCategory = "operator";
// Where the main thread's Python was from one look at its stack to the next: "load (train.py:31)".
inline constexpr const char* kPythonPlaceCategory = "python stack";

// Of Python's garbage collector in its oldest generation, which stops the thread for long.
inline constexpr const char* kGarbageCollection = "garbage collection";
// Of a model's whole forward pass without gradients, before anything has trained: "forward of GPT".
inline constexpr const char* kForwardOf = "forward of ";

}  // namespace lockstep::trace
