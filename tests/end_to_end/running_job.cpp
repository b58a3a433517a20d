#include "tests/end_to_end/running_job.h"

#include <filesystem>
#include <fstream>

namespace lockstep::end_to_end {

void RunningJob::start(const std::vector<std::string>& options, const std::vector<std::string>& command,
                       std::vector<std::string> environment) {
  const std::vector<std::string> aside = sanitizers_aside();
  environment.insert(environment.end(), aside.begin(), aside.end());
  job =
      std::make_unique<BackgroundRun>(outputs, record_command(run.run_path(), options, command), environment);
}

void RunningJob::start_steps(int count, int waiting_in, const std::vector<std::string>& options) {
  start(options,
        {program("nvtx_steps"), std::to_string(count), "wait=" + std::to_string(waiting_in) + ":" + go},
        {"RANK=0"});
}

void RunningJob::let_go() const {
  std::ofstream(go) << "go";
}

Outcome RunningJob::end() const {
  let_go();
  return job->finish();
}

bool RunningJob::waits() const {
  return eventually([&] { return job->output().find("waiting") != std::string::npos; });
}

bool RunningJob::has(const std::string& name) const {
  return eventually([&] { return std::filesystem::exists(run.run_path() + "/" + name); });
}

Outcome RunningJob::attach(const std::string& request) const {
  has("control/rank-0");
  return end_to_end::run({binary("lockstep"), "record", "--attach", run.run_path(), request});
}

}  // namespace lockstep::end_to_end
