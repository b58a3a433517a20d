#include "tracer/recorder/record.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tracer/doctor/nothing_recorded.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/attach.h"
#include "tracer/recorder/attendants.h"
#include "tracer/recorder/claim.h"
#include "tracer/recorder/job_programs.h"
#include "tracer/recorder/last_resort.h"
#include "tracer/recorder/messages.h"
#include "tracer/recorder/preparation.h"
#include "tracer/recorder/summary.h"
#include "tracer/recorder/survivors.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

constexpr int kNotExecutable = 126;

void tell_ending(const Ending& ending, const Manifest& manifest) {
  if (was_interrupted(ending)) {
    const std::int64_t after = ending.interruption->realtime - manifest.start_realtime;
    say(fmt::format("the command was {} after {}", interruption_in_words(ending),
                    readable_duration(std::max<std::int64_t>(after, 0))));
  } else if (ending.signal != 0) {
    say(fmt::format("the command was killed by signal {} ({})", ending.signal, strsignal(ending.signal)));
  }
}

// Whether one of these files, which were deleted, may have been that of this process.
bool may_be_among(const std::vector<std::string>& deleted, const std::string& host, std::int32_t process,
                  std::int32_t rank) {
  std::string of_process = process_file_name(host, process, 1);
  of_process.resize(of_process.rfind('.'));
  return std::any_of(deleted.begin(), deleted.end(), [&](const std::string& name) {
    return name == of_process + ".lst" || name.starts_with(of_process + "-") ||
           (rank >= 0 && rank_of_file_name(name) == rank);
  });
}

std::vector<Unrecorded> unrecorded_beside(const Manifest& manifest, NoticeBoard& notices,
                                          const std::vector<std::string>& deleted) {
  using FileOf = NoticeBoard::FileOf;
  const std::optional<Recording>& recording = manifest.recording;
  // A file that does not say whose it is, is of one of those.
  std::size_t nameless = recording.has_value() ? recording->files_without_process : 0;
  std::vector<Unrecorded> all = notices.take([&](std::int32_t process, std::int32_t rank) {
    if (!recording.has_value() || recording->process_ids.contains(process)) return FileOf::there;
    if (may_be_among(deleted, manifest.host, process, rank)) return FileOf::may_be_deleted;
    if (nameless == 0) return FileOf::missing;
    --nameless;
    return FileOf::there;
  });
  // Files are made there as elsewhere: only where there is none is this a reason.
  if (recording.has_value() && !recording->empty())
    std::erase_if(all, [](const Unrecorded& of) { return of.only_seen && of.reason == kOtherNetwork; });
  return all;
}

std::vector<std::string> outcome_in_words(const Manifest& manifest, const fs::path& folder,
                                          const std::vector<std::string>& deleted) {
  if (!manifest.recording->empty()) return summarize(manifest, shown_path(folder));
  // It was not that nothing was recorded: that it was deleted has been said.
  if (!deleted.empty()) return in_words(manifest.unrecorded);
  return explain_nothing(manifest, doctor::explain_nothing_recorded(manifest.command));
}

void finish(const Options& options, Run& run, const Attendants& attendants, bool long_enough) {
  Manifest& manifest = run.manifest;
  const fs::path& folder = run.folder->path;
  std::vector<std::string> deleted;
  attempt("", [&] { deleted = attendants.vanished(); });
  if (options.plan.survive_kill) attempt("", [&] { (void)await_survivors(folder); });
  attempt("removing the control folder", [&] { remove_control_folder(folder); });
  if (attendants.watches() && long_enough) attempt("", [&] { take_first_place(manifest, folder); });
  attempt("joining small chunks", [&] {
    compact_files(folder, manifest.host, manifest.launch.empty() ? -1 : manifest.recorder.rank);
  });
  attempt("reading what was recorded",
          [&] { manifest.recording = read_recording(folder, manifest.recorder.world_size); });
  attempt("", [&] {
    if (run.notices == nullptr) return;
    manifest.unrecorded = unrecorded_beside(manifest, *run.notices, deleted);
    if (const std::string& trouble = run.notices->trouble(); !trouble.empty())
      say(fmt::format("processes that left no file could not be counted to the end: {}", trouble));
  });
  attempt("writing the manifest", [&] {
    if (const Status written = write_manifest(manifest, folder); !written.ok()) say(written.error().message);
  });
  if (options.quiet || !speaks_for_all(manifest)) return;
  attempt("the summary", [&] {
    tell_ending(*manifest.ending, manifest);
    if (!manifest.recording.has_value()) return;
    if (manifest.recording->empty() && !manifest.other_tool.empty()) return;  // said when the run began
    for (const std::string& line : outcome_in_words(manifest, folder, deleted)) say_wrapped(line);
  });
}

// What did not run can't be run by the last resort either.
Ending without_command(const Ending& ending) {
  command_ended(ending);
  return ending;
}

// There can be no other process: the command becomes this one.
Ending run_in_our_place(const Run& run) {
  say("the command takes the recorder's place, and runs unrecorded.");
  attempt("", [&] { undo(run); });
  const int reason = become_command();
  attempt("the command", [&] { say_aloud(fmt::format("cannot run the command: {}", strerror(reason))); });
  return without_command(Ending{kNotExecutable, 0});
}

}  // namespace

Ending record(const Options& options) noexcept {
  be_quiet(options.quiet);
  const OriginalSignals original = OriginalSignals::replace();
  arm_last_resort(options.command, original);
  Run run;
  // A misspelt command costs nothing. What exec says counts: here it is only that nothing is prepared.
  const std::optional<StartFailure> not_there = look_up(options.command.front());
  if (!not_there.has_value() && !attempt("preparing the run folder", [&] { run = prepare(options); }))
    say("the command runs unrecorded.");
  if (run.refused.has_value()) return without_command(*run.refused);

  Child child(original);
  StartFailure failure;
  Child::Start start = child.start(options.command, run.environment, failure);
  if (start == Child::Start::no_process && run.notices != nullptr) {
    // Where processes are counted, so is our listening thread.
    run.notices.reset();
    start = child.start(options.command, run.environment, failure);
    if (start != Child::Start::no_process)
      say("there is no room for a thread that counts processes which leave no file");
  }
  switch (start) {
    case Child::Start::started:
      if (not_there.has_value())
        attempt("",
                [&] { say(fmt::format("{}; it runs all the same, and unrecorded.", not_there->message)); });
      break;
    case Child::Start::without_environment:
      say("the command's arguments and environment leave no room for Lockstep's variables (ARG_MAX): it runs "
          "unrecorded.");
      attempt("", [&] { undo(run); });
      run.folder.reset();
      break;
    case Child::Start::cannot_execute:
      say_aloud(failure.message);
      attempt("", [&] { undo(run); });
      return without_command(Ending{failure.exit_code, 0});
    case Child::Start::no_process:
      say(failure.message);
      return run_in_our_place(run);
  }

  Attendants attendants(options, run);
  const Ending ending = child.wait([&] { attendants.look(); });
  constexpr std::int64_t kLongEnoughToMeet = 5'000'000'000;
  const bool long_enough = realtime_now() - run.manifest.start_realtime > kLongEnoughToMeet;
  if (!attendants.end(long_enough)) return ending;
  run.manifest.end_realtime = realtime_now();
  run.manifest.ending = ending;
  finish(options, run, attendants, long_enough);
  return ending;
}

}  // namespace lockstep::tracer::record
