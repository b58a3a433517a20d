// `lockstep collect`: makes one run of several that were recorded on the local disks of several hosts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::tracer::record {

struct Collected {
  std::filesystem::path run;
  std::size_t ranks = 0;
  std::size_t processes = 0;
  std::vector<std::string> hosts;
  std::vector<std::int32_t> missing_ranks;
  std::vector<std::string> notes;  // what the user should know: an input without a manifest, a file left out
};

// Copies what the runs of `inputs` hold into the new folder `output`, and joins their manifests; the inputs
// stay as they are. Errors: an input that is no run folder or holds no trace, two inputs with a file of the
// same name (the same rank twice), ranks of jobs of different sizes, an output folder that holds something.
// `force`: a run that is in it is overwritten, unless it is one of the inputs. `refused` becomes whether it
// is the output folder that is wrong. After an error nothing is left in the output folder.
Result<Collected> collect(const std::vector<std::filesystem::path>& inputs,
                          const std::filesystem::path& output, bool force = false, bool* refused = nullptr);

}  // namespace lockstep::tracer::record
