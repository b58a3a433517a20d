#include "tracer/recorder/source_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/counts.h"
#include "tracer/protocol/plan.h"
#include "tracer/protocol/source_table.h"

namespace lockstep::tracer::record {

namespace {

std::string unread(std::size_t files) {
  return fmt::format("{} could not be read", format_plural(files, "file", "files"));
}

SourceReport report_nvtx(const Manifest& manifest) {
  SourceReport nvtx;
  if (!manifest.other_tool.empty()) {
    nvtx.state = "held by another tool";
    nvtx.could_not_record.push_back("NVTX_INJECTION64_PATH was set to " + manifest.other_tool + " before us");
    return nvtx;
  }
  if (!manifest.recording.has_value()) {
    nvtx.state = "recording";
    return nvtx;
  }
  nvtx.state = manifest.recording->empty() ? "nothing came" : "recorded";
  for (const auto& [reason, count] : manifest.recording->dropped) {
    nvtx.could_not_record.push_back(fmt::format("{} events: {}", count, reason));
  }
  if (const std::size_t files = manifest.recording->unreadable_files(); files != 0)
    nvtx.could_not_record.push_back(unread(files));
  if (const std::size_t files = manifest.recording->incomplete_files(); files != 0) {
    nvtx.could_not_record.push_back(
        fmt::format("the last moments of {} processes that did not close their files", files));
  }
  return nvtx;
}

// Why nothing is known of a source in any file. An empty text: it was left out on purpose.
SourceReport report_absent(const std::string& name, const Asked& asked) {
  if (asked.sources.has_value() && !control::names_source(*asked.sources, name))
    return {"not asked for", "--sources " + *asked.sources, {}};
  if ((name == "cpu" || name == "nvml") && !asked.sources.has_value() && !asked.cpu)
    return {"not asked for", "without --cpu", {}};
  if (name == "pytorch" && !asked.python_hook) return {"not asked for", "--python-hook off", {}};
  if (const SourceEntry* const entry = find_source(name); entry != nullptr && !entry->absent_because.empty())
    return {"absent", std::string(entry->absent_because), {}};
  // Whether this host has a driver is what the recorder can see; a job may run elsewhere.
  const bool driver = access("/proc/driver/nvidia/version", F_OK) == 0;
  return {"absent", driver ? "no process used CUDA" : "no NVIDIA driver on the recorder's host", {}};
}

}  // namespace

std::vector<std::pair<std::string, SourceReport>> report_sources(const Manifest& manifest) {
  std::vector<std::pair<std::string, SourceReport>> reports;
  std::map<std::string, Recording::Source> told;
  if (manifest.recording.has_value()) told = manifest.recording->sources();
  const auto add_told = [&](const std::string& name, const Recording::Source& source) {
    SourceReport report{source.state, {}, {}};
    for (const auto& [problem, processes] : source.problems)
      report.could_not_record.push_back(
          processes == 1 ? problem : fmt::format("{} ({} processes)", problem, processes));
    // What a source that is not there could not record is why it is not there.
    if (source.state != "recorded" && !report.could_not_record.empty())
      report.reason = report.could_not_record.front();
    reports.emplace_back(name, report);
  };
  for (const std::string_view known : kSourceNames) {
    const std::string name(known);
    if (const auto found = told.find(name); found != told.end()) {
      add_told(name, found->second);
      told.erase(found);
    } else if (name == "nvtx") {
      SourceReport nvtx = report_nvtx(manifest);
      if (manifest.asked.has_value() && manifest.asked->sources.has_value() &&
          !control::names_source(*manifest.asked->sources, name))
        nvtx = report_absent(name, *manifest.asked);
      reports.emplace_back(name, nvtx);
    } else if (manifest.recording.has_value() && manifest.asked.has_value()) {
      SourceReport report = report_absent(name, *manifest.asked);
      // Which may be where it was.
      if (const std::size_t files = manifest.recording->unreadable_files();
          files != 0 && report.state == "absent")
        report = {"not known", unread(files), {}};
      reports.emplace_back(name, report);
    }
  }
  for (const auto& [name, source] : told) add_told(name, source);
  return reports;
}

}  // namespace lockstep::tracer::record
