#include "tracer/record/launch.h"

#include <cstdlib>
#include <string_view>

namespace lockstep::tracer::record {

std::string launch_name(const std::function<const char*(const char*)>& lookup) {
  const auto value = [&](const char* name) {
    const char* text = lookup(name);
    return text != nullptr ? std::string(text) : std::string();
  };
  const auto prefixed = [](std::string_view prefix, const std::string& text) {
    return text.empty() ? std::string() : std::string(prefix) + text;
  };
  const std::string rank_of_torchrun = value("TORCHELASTIC_RUN_ID");
  if (!rank_of_torchrun.empty()) {
    return "torchrun-" + rank_of_torchrun + "-" + value("MASTER_PORT") + "-" +
           value("TORCHELASTIC_RESTART_COUNT");
  }
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid", "OMPI_MCA_ess_base_jobid"}) {
    if (std::string text = prefixed("ompi-", value(name)); !text.empty()) return text;
  }
  for (const char* name : {"PMI_KVSNAME", "PMI_JOBID"}) {
    if (std::string text = prefixed("pmi-", value(name)); !text.empty()) return text;
  }
  const std::string step = value("SLURM_STEP_ID");
  if (!value("SLURM_JOB_ID").empty() && !step.empty()) return "slurm-" + value("SLURM_JOB_ID") + "." + step;
  return {};
}

std::string launch_name() {
  return launch_name([](const char* name) { return static_cast<const char*>(std::getenv(name)); });
}

}  // namespace lockstep::tracer::record
