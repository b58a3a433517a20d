#include "analyzer/import/nccl_log/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "analyzer/import/nccl_log/nccl_log.h"

namespace lockstep::analyzer {
namespace {

Certainty recognise_log(const FileBeginning& file) {
  // Enough for a job's output to come to NCCL's lines.
  constexpr unsigned kBeginningOfLog = 1 << 16;
  // A line of a log may begin with the bracket of JSON's lists, but not with that of its objects.
  const std::size_t at = file.text().find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || file.text()[at] == '{') return Certainty::none;
  const Result<std::string> more = file.further(kBeginningOfLog);
  return more.ok() && nccl_log::recognises(more.value()) ? Certainty::certain : Certainty::none;
}

// Logs have any name, and hold anything.
bool may_be_named(std::string_view name) {
  return name.ends_with(".log") || name.ends_with(".log.gz") || name.starts_with("nccl");
}

// NCCL cuts hosts' names at the first dot.
std::string_view first_label(std::string_view host) {
  return host.substr(0, host.find('.'));
}

// Where both name hosts, and none in common.
bool is_of_other_hosts(const Job& job) {
  std::set<std::string_view> hosts;
  for (const RankTrace& rank : job.ranks)
    if (!rank.host.empty()) hosts.insert(first_label(rank.host));
  return !hosts.empty() && !job.paths.empty() &&
         std::none_of(job.paths.begin(), job.paths.end(), [&](const ChannelPath& path) {
           return path.host.empty() || hosts.contains(first_label(path.host));
         });
}

// Over which connections ranks talk, as logs beside the traces say.
void add_paths(const std::vector<std::filesystem::path>& files, Job& job) {
  nccl_log::Log log;
  for (const std::filesystem::path& file : files)
    if (const Status status = log.add_file(file); !status.ok())
      job.warnings.push_back({"file_unreadable", status.error().message, kNoRank});
  job.paths = log.take_paths(job.world_size, job.groups, job.warnings);
  if (is_of_other_hosts(job)) {
    job.warnings.push_back({"nccl_log_of_other_hosts",
                            fmt::format("{}: of host {}, where no trace is from: of another job?",
                                        job.paths.front().file, job.paths.front().host),
                            kNoRank});
  }
}

constexpr auto kExamples = std::to_array<ImportExample>({
    {"run nccl.*.log", "with NCCL's own log: over which connections ranks talk"},
});

}  // namespace

constinit const Importer importers::nccl_log{
    .name = "nccl_log",
    .title = "NCCL's own log",
    .description = "what NCCL logs while it connects: over which connections ranks talk",
    .understood = "NCCL's logs (NCCL_DEBUG=INFO)",
    .content = "a log of NCCL",
    .sample = "node0:1:2 [0] NCCL INFO Connected all rings\n",
    .examples = kExamples,
    .recognise = recognise_log,
    .may_be_named = may_be_named,
    .add = add_paths,
    .why_not_alone =
        "NCCL's log says over which connections ranks talk, but not for how long: give the job's traces too",
};

}  // namespace lockstep::analyzer
