#include "tracer/recorder/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "base/numbers.h"
#include "tracer/clock_sync/sync_address.h"

namespace lockstep::tracer::record {

namespace {

std::string value_of(const Lookup& lookup, const char* name) {
  const char* text = lookup(name);
  return text != nullptr ? std::string(text) : std::string();
}

// The first that is not empty.
std::string first_of(const Lookup& lookup, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string text = value_of(lookup, name); !text.empty()) return text;
  }
  return {};
}

// A number from 0 on, else -1.
std::int32_t number(std::string_view text) {
  return parse_number<std::int32_t>(text, 0).value_or(-1);
}

bool is_torchrun(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(), [](const std::string& word) {
    return std::filesystem::path(word).filename() == "torchrun" || word == "torch.distributed.run" ||
           word == "torch.distributed.launch";
  });
}

// A setting of torchrun: by flag, or by the variable that is the flag's default.
std::string setting(const Lookup& lookup, const std::vector<std::string>& command, std::string_view flag,
                    const char* variable) {
  std::string value = clock_sync::flag_value(command, flag);
  return value.empty() ? value_of(lookup, variable) : value;
}

// "2", or "1:4" of a job whose nodes may come and go.
bool has_several_nodes(const std::string& nodes) {
  return number(std::string_view(nodes).substr(nodes.find(':') + 1)) > 1;
}

// What torchrun is told of where its nodes meet; empty: nothing that would tell this job from others.
std::string rendezvous(const Lookup& lookup, const std::vector<std::string>& command) {
  std::string place = setting(lookup, command, "--rdzv-endpoint", "PET_RDZV_ENDPOINT");
  if (place.empty()) {
    place = setting(lookup, command, "--master-addr", "PET_MASTER_ADDR");
    const bool by_variable = place.empty();
    if (by_variable) place = value_of(lookup, "MASTER_ADDR");
    std::string port = setting(lookup, command, "--master-port", "PET_MASTER_PORT");
    if (port.empty() && by_variable) port = value_of(lookup, "MASTER_PORT");
    if (!place.empty() && !port.empty()) place += ":" + port;
  }
  std::string id = setting(lookup, command, "--rdzv-id", "PET_RDZV_ID");
  if (id == "none") id.clear();  // torchrun's default
  if (!place.empty() && !id.empty()) place += "-";
  return place + id;
}

// Which of the nodes this is; -1: nobody says.
std::int32_t node_rank(const Lookup& lookup, const std::vector<std::string>& command,
                       const JobIdentity& identity) {
  const std::int32_t told = number(setting(lookup, command, "--node-rank", "PET_NODE_RANK"));
  if (told >= 0) return told;
  const std::int32_t group = number(value_of(lookup, "GROUP_RANK"));
  // Of a recorder around torchrun, the rank that srun or a PyTorchJob gave it counts nodes.
  return group >= 0 ? group : identity.rank;
}

}  // namespace

std::string launch_name(const Lookup& lookup) {
  const auto prefixed = [](std::string_view prefix, const std::string& text) {
    return text.empty() ? std::string() : std::string(prefix) + text;
  };
  const auto value = [&](const char* name) { return value_of(lookup, name); };
  if (const std::string torchrun = value("TORCHELASTIC_RUN_ID"); !torchrun.empty()) {
    // torchrun's default id tells no job from another; the port, which a restart may change, does.
    return torchrun != "none" ? "torchrun-" + torchrun
                              : fmt::format("torchrun-none-{}", value("MASTER_PORT"));
  }
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid", "OMPI_MCA_ess_base_jobid"}) {
    if (std::string text = prefixed("ompi-", value(name)); !text.empty()) return text;
  }
  for (const char* name : {"PMI_KVSNAME", "PMI_JOBID"}) {
    if (std::string text = prefixed("pmi-", value(name)); !text.empty()) return text;
  }
  const std::string job = first_of(lookup, {"SLURM_JOB_ID", "SLURM_JOBID"});
  const std::string step = first_of(lookup, {"SLURM_STEP_ID", "SLURM_STEPID"});
  if (!job.empty() && !step.empty()) return "slurm-" + job + "." + step;
  // Ranks that are started by hand, or by a PyTorchJob. One alone shares its folder with nobody.
  if (number(value("RANK")) >= 0 && number(value("WORLD_SIZE")) > 1 && !value("MASTER_ADDR").empty() &&
      !value("MASTER_PORT").empty()) {
    return fmt::format("torchrun-{}:{}-{}", value("MASTER_ADDR"), value("MASTER_PORT"), value("WORLD_SIZE"));
  }
  return {};
}

Launch find_launch(const Lookup& lookup, const std::vector<std::string>& command,
                   const JobIdentity& identity) {
  Launch launch;
  if (identity.rank >= 0) launch.name = launch_name(lookup);
  const std::string nodes = setting(lookup, command, "--nnodes", "PET_NNODES");
  if (!is_torchrun(command) || !has_several_nodes(nodes)) {
    if (!launch.name.empty() && identity.restart > 0) {
      launch.place = fmt::format("rank-{}-restart-{}", identity.rank, identity.restart);
    } else if (!launch.name.empty() && identity.rank > 0) {
      launch.place = fmt::format("rank-{}", identity.rank);
    }
    return launch;
  }
  launch.of_node = true;
  if (launch.name.empty()) {
    const std::string where = rendezvous(lookup, command);
    if (where.empty()) return launch;
    launch.name = fmt::format("torchrun-{}-{}", where, nodes);
  }
  const std::int32_t node = node_rank(lookup, command, identity);
  launch.first_come = node < 0;
  if (node > 0) launch.place = fmt::format("node-{}", node);
  // Containers of one job may all have the same name, and two agents may run on one host.
  if (node < 0) launch.place = fmt::format("node-{}-{}", host_for_file_name(host_name()), getpid());
  return launch;
}

Launch find_launch(const std::vector<std::string>& command, const JobIdentity& identity) {
  return find_launch([](const char* name) { return static_cast<const char*>(std::getenv(name)); }, command,
                     identity);
}

}  // namespace lockstep::tracer::record
