// Which rank this environment says we are.
#include <fmt/format.h>

#include <array>

#include "tracer/doctor/checks.h"
#include "tracer/protocol/environment.h"

namespace lockstep::tracer::doctor {

void check_ranks(const Situation& situation, Checks& checks) {
  const Machine& machine = situation.machine;
  std::optional<std::string> value;
  const JobIdentity job = identify_job([&](const char* name) -> const char* {
    value = machine.variable(name);
    return value.has_value() ? value->c_str() : nullptr;
  });
  Check check{
      "job.rank", {}, State::note, "no launcher's rank variables here: it sets them in what it starts", ""};
  std::string others;
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "WORLD_SIZE",
                           "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "LOCAL_RANK",
                           "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const auto set = machine.set_variable(name); set.has_value()) {
      check.values[name] = *set;
      others += fmt::format("{}{}={}", others.empty() ? "" : ", ", name, *set);
    }
  }
  if (job.rank >= 0) {
    check.state = State::ok;
    check.finding =
        job.world_size >= 0
            ? fmt::format("rank {} of {}, from {}", job.rank, job.world_size, job.launcher)
            : fmt::format("rank {}, from {}; the number of ranks is not said", job.rank, job.launcher);
  } else if (machine.set_variable("RANK").has_value() ||
             machine.set_variable("OMPI_COMM_WORLD_RANK").has_value()) {
    check.state = State::limited;
    check.finding = fmt::format("no rank can be read from {}: files will be named by process", others);
    check.remedy = "a rank is a number from 0 and below the world size: start the job with its launcher";
  }
  checks.push_back(check);
}

}  // namespace lockstep::tracer::doctor
