#include "cli/recording/record_sync.h"

#include <fmt/format.h>

#include "tracer/clock_sync/sync_address.h"

namespace lockstep::cli {

using tracer::clock_sync::SyncAddress;

void describe(CLI::App& app, SyncArguments& arguments) {
  CLI::Option* address =
      app.add_option("--sync-address", arguments.address,
                     "Compare this host's clock, by UDP, with the host that has this address; there, answer "
                     "[MASTER_ADDR, torchrun's --rdzv-endpoint or --master-addr, or Slurm's first node; port "
                     "MASTER_PORT, else 29471]")
          ->option_text("HOST[:PORT]");
  app.add_flag("--no-sync", arguments.off,
               "Open no socket: several hosts' clocks are then related by the order of collectives alone")
      ->excludes(address);
}

Status fill_sync(const SyncArguments& arguments, const std::function<const char*(const char*)>& lookup,
                 tracer::record::Options& options) {
  const char* const variable = lookup("LOCKSTEP_SYNC_ADDRESS");
  const bool by_variable = arguments.address.empty() && variable != nullptr && *variable != '\0';
  const std::string text = by_variable ? variable : arguments.address;
  if (arguments.off || (by_variable && text == "off")) return {};
  if (text.empty()) {
    options.sync = tracer::clock_sync::find_sync_address(lookup, options.command);
  } else {
    Result<SyncAddress> address = tracer::clock_sync::parse_sync_address(text);
    if (!address.ok())
      return Error{fmt::format("{} {}", by_variable ? "LOCKSTEP_SYNC_ADDRESS" : "--sync-address",
                               address.error().message)};
    options.sync = std::move(address).value();
    options.sync->from = by_variable ? "LOCKSTEP_SYNC_ADDRESS" : "--sync-address";
  }
  const auto value = [&](const char* name) -> std::string {
    const char* const found = lookup(name);
    return found != nullptr ? found : "";
  };
  options.sync_token = value("LOCKSTEP_SYNC_TOKEN");
  // What recorders of one job agree on without being told.
  if (options.sync_token.empty() && options.sync)
    options.sync_token = fmt::format("{} {}", options.sync->port, value("SLURM_JOB_ID"));
  return {};
}

}  // namespace lockstep::cli
