#include "tracer/record/record.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "tracer/clock_sync/clock_sync.h"
#include "tracer/doctor/nothing_recorded.h"
#include "tracer/environment.h"
#include "tracer/record/attach.h"
#include "tracer/record/claim.h"
#include "tracer/record/hang_watch.h"
#include "tracer/record/launch.h"
#include "tracer/record/live_run.h"
#include "tracer/record/manifest.h"
#include "tracer/record/progress.h"
#include "tracer/record/recording.h"
#include "tracer/record/run_folder.h"
#include "tracer/record/summary.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr const char* kInjectionVariable = "NVTX_INJECTION64_PATH";
constexpr const char* kCudaInjectionVariable = "CUDA_INJECTION64_PATH";
constexpr const char* kNcclVariable = "NCCL_PROFILER_PLUGIN";

void say(std::string_view message) {
  fmt::print(stderr, "lockstep record: {}\n", message);
}

// For people who read the end of a job's output.
void say_wrapped(std::string_view message) {
  constexpr std::size_t kColumns = 100;
  fmt::print(stderr, "{}\n", wrapped(fmt::format("lockstep record: {}", message), kColumns));
}

std::int64_t realtime_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string environment_value(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

bool is_our_library(const std::string& path) {
  return fs::path(path).filename() == fs::path("liblockstep-inject.so");
}

// As the user will type it: relative where it is below the working folder.
std::string shown_path(const fs::path& path) {
  std::error_code error;
  const fs::path relative = path.lexically_relative(fs::current_path(error));
  const bool below = !error && !relative.empty() && *relative.begin() != "..";
  return (below ? relative : path).string();
}

// The folder, or how we end instead. No folder and no ending: the command is to run unrecorded.
struct Prepared {
  std::optional<RunFolder> folder;
  std::optional<Ending> ending;
};

Prepared prepare_folder(const Options& options, const std::string& launch) {
  const bool numbered = options.run.empty();
  Result<RunFolder> folder = numbered ? create_numbered_run_folder(fs::current_path())
                                      : prepare_run_folder(options.run, options.force, launch);
  if (folder.ok()) return {std::move(folder).value(), std::nullopt};
  // Something is there already: the user can choose another name. A disk that can't be written to is no
  // reason to keep a job from running that may have waited for days for its turn.
  std::error_code error;
  if (!numbered && fs::exists(options.run, error)) {
    say(folder.error().message);
    return {std::nullopt, Ending{kUsage, 0}};
  }
  say(folder.error().message);
  say("the command runs unrecorded.");
  return {};
}

// Another tool that the CUDA driver is to load; "none" is the driver's word for no tool.
std::optional<std::string> cuda_tool() {
  const std::string path = environment_value(kCudaInjectionVariable);
  if (path.empty() || path == "none" || is_our_library(path)) return std::nullopt;
  return path;
}

Child::Environment tracer_environment(const Options& options, const fs::path& library, const fs::path& folder,
                                      std::int64_t start_realtime) {
  Child::Environment environment{{kInjectionVariable, library.string()},
                                 {"LOCKSTEP_INJECTION", library.string()},
                                 {"LOCKSTEP_RUN", folder.string()}};
  if (const std::optional<fs::path> hook = find_python_hook(library);
      options.python_hook && hook.has_value()) {
    const std::string path = environment_value("PYTHONPATH");
    environment.emplace_back("PYTHONPATH", path.empty() ? hook->string() : hook->string() + ":" + path);
  }
  if (!cuda_tool().has_value()) environment.emplace_back(kCudaInjectionVariable, library.string());
  environment.emplace_back("LOCKSTEP_CUDA_API", options.all_cuda_calls ? "all" : "launches");
  if (const std::string plugin = environment_value(kNcclVariable); plugin.empty() || is_our_library(plugin)) {
    environment.emplace_back(kNcclVariable, library.string());
  } else {
    say(
        fmt::format("{} is set to '{}' already and stays: NCCL loads one plugin. Lockstep takes NCCL's "
                    "operations from its NVTX "
                    "ranges, without data types, algorithms and protocols. To record these too, unset it.",
                    kNcclVariable, plugin));
  }
  control::Plan plan = options.plan;
  plan.start_realtime = start_realtime;
  for (auto& variable : control::to_environment(plan)) environment.push_back(std::move(variable));
  if (options.sources.has_value()) environment.emplace_back("LOCKSTEP_SOURCES", *options.sources);
  if (options.buffer_bytes != 0) {
    environment.emplace_back("LOCKSTEP_BUFFER_SIZE", std::to_string(options.buffer_bytes));
  }
  if (options.cpu) environment.emplace_back("LOCKSTEP_CPU", "1");
  environment.emplace_back("LOCKSTEP_OPERATORS", options.operators ? "1" : "0");
  environment.emplace_back("LOCKSTEP_STACKS", fmt::format("{:g}", options.stacks));
  return environment;
}

// Says what is no longer there of what this run wrote. False: the folder is not ours to write into any more.
bool tell_what_vanished(const FolderWatch& watch, const fs::path& folder) {
  const std::string run = shown_path(folder);
  if (watch.belongs_to_another()) {
    say(fmt::format(
        "{} belongs to another run by now: what was recorded of this job was deleted while it ran", run));
    return false;
  }
  const std::vector<std::string> vanished = watch.vanished();
  if (!vanished.empty() || watch.was_taken()) {
    say(fmt::format(
        "{}: {} while the job ran: what stood in there is lost, and what follows is of the rest", run,
        vanished.empty() ? "its manifest was deleted"
                         : counted(vanished.size(), "trace file was", "trace files were") + " deleted"));
  }
  std::error_code error;
  return fs::is_directory(folder, error);
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

void undo_folder(const RunFolder& folder, const Manifest& manifest) {
  std::error_code ignored;
  fs::remove(folder.path / manifest_name(manifest), ignored);
  if (folder.created) fs::remove(folder.path, ignored);  // only if it is empty
}

}  // namespace

Ending record(const Options& options) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const Result<fs::path> library = find_injection_library(self);
  if (!library.ok()) {
    say(library.error().message);
    return Ending{kFailure, 0};
  }
  if (const std::optional<StartFailure> failure = look_up(options.command.front()); failure.has_value()) {
    say(failure->message);
    return Ending{failure->exit_code, 0};
  }
  Manifest manifest;
  manifest.command = options.command;
  manifest.working_folder = fs::current_path(error).string();
  manifest.host = host_name();
  manifest.recorder = identify_job();
  Launch launch = find_launch(options.command, manifest.recorder);
  if (options.run.empty()) launch.place.clear();  // a numbered folder is this recorder's alone
  manifest.launch = launch.name;
  if (launch.of_node) manifest.recorder = {};  // the ranks are below it
  manifest.injection = library.value().string();
  manifest.asked = Asked{options.sources, options.cpu, options.python_hook, options.plan};
  if (const std::string other = environment_value(kInjectionVariable);
      !other.empty() && !is_our_library(other)) {
    manifest.other_tool = other;
    say(fmt::format(
        "{} is set to '{}' already. That tool gets the NVTX events and Lockstep none: NVTX serves one tool. "
        "To record, unset it.",
        kInjectionVariable, other));
  }

  if (const auto other = cuda_tool(); other.has_value() && manifest.other_tool.empty()) {
    say(
        fmt::format("{} is set to '{}' already. That tool gets the GPU's kernels and Lockstep none: the CUDA "
                    "driver loads one "
                    "tool. NVTX ranges are recorded. To record kernels, unset it.",
                    kCudaInjectionVariable, *other));
  }

  Prepared prepared = prepare_folder(options, manifest.launch);
  if (prepared.ending.has_value()) return *prepared.ending;
  std::optional<RunFolder>& folder = prepared.folder;
  manifest.start_realtime = realtime_now();
  if (folder.has_value()) {
    const Result<bool> claimed = claim(manifest, folder->path, launch);
    if (claimed.ok() && !claimed.value()) {
      say(why_refused(options.run.empty() ? folder->path : options.run, launch.name).message);
      return Ending{kUsage, 0};
    }
    if (!claimed.ok()) {
      say(claimed.error().message);
      say("the command runs unrecorded.");
      folder.reset();
    }
  }

  Child child;
  Child::Environment environment;
  if (folder.has_value() && manifest.other_tool.empty()) {
    environment = tracer_environment(options, library.value(), folder->path, manifest.start_realtime);
  }
  StartFailure failure;
  if (!child.start(options.command, environment, failure)) {
    say(failure.message);
    if (folder.has_value()) undo_folder(*folder, manifest);
    return Ending{failure.exit_code, 0};
  }
  Progress progress(folder.has_value() ? folder->path : fs::path(),
                    !options.quiet && speaks_for_all(manifest));
  std::optional<HangWatch> hang_watch;
  // Of several recorders of one launch, the first of each host watches.
  const bool watches = manifest.launch.empty() || manifest.recorder.local_rank <= 0;
  if (options.plan.hang_timeout_ns > 0 && folder.has_value() && manifest.other_tool.empty() && watches)
    hang_watch.emplace(
        folder->path, options.plan.hang_timeout_ns, options.hang_timeout_is_asked_for,
        [quiet = options.quiet && !options.hang_timeout_is_asked_for](const std::string& message) {
          if (!quiet) say(message);
        });
  std::optional<clock_sync::ClockSync> sync;
  if (options.sync.has_value() && folder.has_value() && watches) {
    clock_sync::ClockSync::Options comparing;
    comparing.address = *options.sync;
    comparing.token = clock_sync::make_token(options.sync_token);
    comparing.run = folder->path;
    sync.emplace(std::move(comparing));
  }
  std::optional<FolderWatch> watch;
  if (folder.has_value()) watch.emplace(folder->path, manifest_name(manifest), manifest.start_realtime);
  const Ending ending = child.wait([&] {
    progress.show();
    if (watch.has_value()) watch->look();
  });
  hang_watch.reset();
  progress.clear();
  constexpr std::int64_t kLongEnoughToMeet = 5'000'000'000;
  const bool long_enough = realtime_now() - manifest.start_realtime > kLongEnoughToMeet;
  if (sync.has_value() && !options.quiet && long_enough) tell_of_clocks(*sync, *options.sync);
  sync.reset();
  if (!folder.has_value() || !tell_what_vanished(*watch, folder->path)) return ending;
  remove_control_folder(folder->path);

  manifest.end_realtime = realtime_now();
  manifest.ending = ending;
  if (watches && long_enough) take_first_place(manifest, folder->path);
  compact_files(folder->path, manifest.host, manifest.launch.empty() ? -1 : manifest.recorder.rank);
  manifest.recording = read_recording(folder->path, manifest.recorder.world_size);
  if (const Status written = write_manifest(manifest, folder->path); !written.ok())
    say(written.error().message);
  if (!options.quiet && speaks_for_all(manifest)) {
    if (was_interrupted(ending)) {
      const std::int64_t after = ending.interruption->realtime - manifest.start_realtime;
      say(fmt::format("the command was {} after {}", interruption_in_words(ending),
                      readable_duration(std::max<std::int64_t>(after, 0))));
    } else if (ending.signal != 0) {
      say(fmt::format("the command was killed by signal {} ({})", ending.signal, strsignal(ending.signal)));
    }
    const bool nothing = manifest.recording->empty();
    if (nothing && !manifest.other_tool.empty()) return ending;  // said when the run began
    for (const std::string& line :
         nothing ? explain_nothing(manifest, doctor::explain_nothing_recorded(manifest.command))
                 : summarize(manifest, shown_path(folder->path)))
      say_wrapped(line);
  }
  return ending;
}

}  // namespace lockstep::tracer::record
