#include "tracer/recorder/attendants.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/counts.h"
#include "tracer/recorder/messages.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

// Says what is no longer there of what this run wrote. False: the folder is not ours to write into any more.
bool tell_what_vanished(const FolderWatch& watch, const fs::path& folder) {
  const std::string run = shown_path(folder);
  using Owner = FolderWatch::Owner;
  const FolderWatch::Ownership manifest = watch.ownership();
  if (manifest.owner == Owner::another) {
    say(fmt::format(
        "{} belongs to another run by now: what was recorded of this job was deleted while it ran", run));
    return false;
  }
  if (manifest.owner == Owner::unknown)
    say(fmt::format("{}: its manifest could not be read ({}), and is taken for this run's", run,
                    manifest.why));
  const std::vector<std::string> vanished = watch.vanished();
  if (!vanished.empty() || manifest.owner == Owner::nobody) {
    say(fmt::format("{}: {} while the job ran: what stood in there is lost, and what follows is of the rest",
                    run,
                    vanished.empty()
                        ? "its manifest was deleted"
                        : format_plural(vanished.size(), "trace file was", "trace files were") + " deleted"));
  }
  std::error_code error;
  if (fs::is_directory(folder, error)) return true;
  const bool is_gone = !error || error == std::errc::no_such_file_or_directory;
  if (is_gone && vanished.empty()) say(fmt::format("{} is gone: what was recorded is lost", run));
  // Where nobody knows, writing into it tells.
  return !is_gone;
}

// Only where nobody answered: else it is for the report to say.
void tell_of_clocks(const clock_sync::ClockSync& sync, const clock_sync::SyncAddress& address) {
  if (sync.role() == clock_sync::Role::answers || sync.exchanges() > 0) return;
  say_wrapped(fmt::format(
      "this host's clock could not be compared with that of {} (from {}): no recorder answered at UDP "
      "port {}. lockstep analyze relates the hosts by the order of their collectives instead. Open the "
      "port, name another host with --sync-address, or say --no-sync.",
      address.host, address.from, address.port));
}

void tell_if_unwritten(const Status& clocks) {
  if (clocks.ok()) return;
  say_wrapped(
      fmt::format("{}. lockstep analyze relates this host's clock to the others' by the order of their "
                  "collectives instead",
                  clocks.error().message));
}

}  // namespace

Attendants::Attendants(const Options& options, const Run& run) : options_(options), run_(run) {
  const fs::path folder = run.folder.has_value() ? run.folder->path : fs::path();
  const bool is_recorded = run.folder.has_value() && run.manifest.other_tool.empty();
  attempt("progress", [&] { progress_.emplace(folder, !options.quiet && speaks_for_all(run.manifest)); });
  if (!run.folder.has_value()) return;
  if (options.plan.hang_timeout_ns > 0 && is_recorded && watches())
    attempt("watching for hangs", [&] {
      hang_watch_.emplace(folder, options.plan.hang_timeout_ns, options.hang_timeout_is_asked_for,
                          [aloud = options.hang_timeout_is_asked_for](const std::string& message) {
                            aloud ? say_aloud(message) : say(message);
                          });
    });
  if (options.sync.has_value() && watches())
    attempt("comparing clocks", [&] {
      clock_sync::ClockSync::Options comparing;
      comparing.address = *options.sync;
      comparing.token = clock_sync::make_token(options.sync_token);
      comparing.run = folder;
      sync_.emplace(std::move(comparing));
    });
  attempt("watching the run folder",
          [&] { watch_.emplace(folder, manifest_name(run.manifest), run.manifest.start_realtime); });
}

bool Attendants::watches() const {
  return run_.manifest.launch.empty() || run_.manifest.recorder.local_rank <= 0;
}

void Attendants::look() {
  attempt("", [&] {
    if (progress_.has_value()) progress_->show();
  });
  attempt("", [&] {
    if (watch_.has_value()) watch_->look();
  });
}

bool Attendants::end(bool long_enough) {
  hang_watch_.reset();
  if (progress_.has_value()) progress_->clear();
  if (sync_.has_value() && long_enough) attempt("", [&] { tell_of_clocks(*sync_, *options_.sync); });
  if (sync_.has_value()) attempt("comparing clocks", [&] { tell_if_unwritten(sync_->end()); });
  sync_.reset();
  if (!run_.folder.has_value()) return false;
  bool is_ours = true;
  attempt("looking at the run folder", [&] {
    if (watch_.has_value()) is_ours = tell_what_vanished(*watch_, run_.folder->path);
  });
  return is_ours;
}

std::vector<std::string> Attendants::vanished() const {
  return watch_.has_value() ? watch_->vanished() : std::vector<std::string>();
}

}  // namespace lockstep::tracer::record
