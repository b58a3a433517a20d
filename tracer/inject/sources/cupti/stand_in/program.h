// What the test program's scenarios are written with: work on a GPU that is not there, and a log of it that
// says what must be in the recording.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>

#include "tracer/inject/sources/cupti/stand_in/control.h"

namespace stand_in_program {

// The functions of control.h, and CUPTI's own, of the copy that is in the process.
#define CONTROL(function) stand_in_program::cupti<decltype(&::function)>(#function)
void* cupti_function(const char* name);
template <class Function>
Function cupti(const char* name) {
  return reinterpret_cast<Function>(cupti_function(name));
}

struct Place {
  std::uint32_t device = 0;
  std::uint32_t context = 1;
  std::uint32_t stream = 7;
};

// Loads the driver, calls cuInit, finds CUPTI. False if no CUPTI was loaded.
bool initialize_cuda();

// One call that launches a kernel and the kernel: two records, two lines of the log. Names must be literals.
void launch(const Place& place, const char* kernel, std::uint32_t count = 1);
void launch_graph(const Place& place, const char* kernel, std::uint32_t nodes);
void copy(const Place& place, std::uint64_t bytes);
void copy_to_peer(const Place& place, std::uint32_t to_device, std::uint64_t bytes);
void fill(const Place& place, std::uint64_t bytes);
void wait_for_stream(const Place& place);
// Any call of the runtime; `recorded` says whether it should be in the recording.
void call_runtime(std::uint32_t call, const char* name, bool recorded);
std::uint32_t start_kernel(const Place& place, const char* kernel);  // runs until it is finished
void finish_kernel(const Place& place, const char* kernel, std::uint32_t correlation);
// Counts as a record that was read, and that has no event.
void record_unknown(int kind);

void log_line(const std::string& line);
void write_log(const char* path);
// Until `condition` holds; ends the program after a minute.
void wait_a_moment();
template <class Condition>
void wait_until(Condition condition) {
  while (!condition()) wait_a_moment();
}

}  // namespace stand_in_program
