#include "tracer/recorder/preparation.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "base/own_program.h"
#include "tracer/protocol/environment.h"
#include "tracer/protocol/notices.h"
#include "tracer/recorder/claim.h"
#include "tracer/recorder/launch.h"
#include "tracer/recorder/messages.h"
#include "tracer/recorder/telling_environment.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

constexpr int kUsage = 2;
constexpr const char* kInjectionVariable = "NVTX_INJECTION64_PATH";
constexpr const char* kCudaInjectionVariable = "CUDA_INJECTION64_PATH";
constexpr const char* kNcclVariable = "NCCL_PROFILER_PLUGIN";

std::string environment_value(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

bool is_our_library(const std::string& path) {
  return fs::path(path).filename() == fs::path("liblockstep-inject.so");
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
  // Something is there already: the user can choose another name. A disk that can't be written to, or memory
  // that runs out, is no reason to keep a job from running that may have waited for days for its turn.
  if (!numbered && is_wrong_choice(options.run)) {
    say_aloud(folder.error().message);
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
                    "operations from its NVTX ranges, without data types, algorithms and protocols. To "
                    "record these too, unset it.",
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

// Where our library is: beside the executable.
Result<fs::path> find_library() {
  std::error_code error;
  return find_injection_library(own_program(error));
}

void describe_command(const Options& options, const Launch& launch, Manifest& manifest) {
  std::error_code error;
  manifest.command = options.command;
  manifest.working_folder = fs::current_path(error).string();
  manifest.environment = telling_environment(environ);
  manifest.host = host_name();
  manifest.launch = launch.name;
  if (launch.of_node) manifest.recorder = {};  // the ranks are below it
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
                    "driver loads one tool. NVTX ranges are recorded. To record kernels, unset it.",
                    kCudaInjectionVariable, *other));
  }
}

}  // namespace

std::int64_t realtime_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// As the user will type it: relative where it is below the working folder.
std::string shown_path(const fs::path& path) {
  std::error_code error;
  const fs::path relative = path.lexically_relative(fs::current_path(error));
  const bool below = !error && !relative.empty() && *relative.begin() != "..";
  return (below ? relative : path).string();
}

Run prepare(const Options& options) {
  Run run;
  const Result<fs::path> library = find_library();
  if (!library.ok()) {
    say(library.error().message);
    say("the command runs unrecorded.");
    return run;
  }
  Manifest& manifest = run.manifest;
  manifest.recorder = identify_job();
  Launch launch = find_launch(options.command, manifest.recorder);
  if (options.run.empty()) launch.place.clear();  // a numbered folder is this recorder's alone
  describe_command(options, launch, manifest);
  manifest.injection = library.value().string();

  Prepared prepared = prepare_folder(options, manifest.launch);
  run.refused = prepared.ending;
  manifest.start_realtime = realtime_now();
  if (!prepared.folder.has_value()) return run;
  const Result<bool> claimed = claim(manifest, prepared.folder->path, launch);
  if (!claimed.ok()) {
    say(claimed.error().message);
    say("the command runs unrecorded.");
    return run;
  }
  if (!claimed.value()) {
    say_aloud(why_refused(options.run.empty() ? prepared.folder->path : options.run, launch.name).message);
    run.refused = Ending{kUsage, 0};
    return run;
  }
  run.folder = std::move(prepared.folder);
  if (!manifest.other_tool.empty()) return run;
  run.environment = tracer_environment(options, library.value(), run.folder->path, manifest.start_realtime);
  attempt("listening to processes that can't be recorded", [&] {
    run.notices = std::make_unique<NoticeBoard>();
    run.environment.emplace_back(notices::kVariable, run.notices->name());
  });
  return run;
}

void undo(const Run& run) {
  if (!run.folder.has_value()) return;
  std::error_code ignored;
  fs::remove(run.folder->path / manifest_name(run.manifest), ignored);
  if (run.folder->created) fs::remove(run.folder->path, ignored);  // only if it is empty
}

}  // namespace lockstep::tracer::record
