// What the journeys open.
#pragma once

#include <filesystem>

#include "analyzer/model/job.h"

namespace lockstep::viewer::journey {

// A folder of Kineto files, which is made: four ranks, six steps of 4 ms. In each step all ranks compute and
// meet in an all-reduce 2.5 ms after its begin; rank 2 comes last because its "gemm" takes `late_us` longer.
// Then a shorter "layer_norm" and a second all-reduce.
inline constexpr int kRunRanks = 4;
inline constexpr int kRunSteps = 6;
inline constexpr int kFirstStep = 10;
void write_run(const std::filesystem::path& folder, int late_us = 900);

// What no sound program records: names of 100 kB and of bytes that are no text, thousands of events at one
// instant and of no length, a rank of one event, a rank without steps among those that have them, lanes
// without events. Around `middle`.
analyzer::Job hostile_job(analyzer::Nanoseconds middle);
// One event, as far from 0 as times go.
analyzer::Job lonely_job(analyzer::Nanoseconds at);

}  // namespace lockstep::viewer::journey
