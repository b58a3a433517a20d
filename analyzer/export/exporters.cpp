#include "analyzer/export/exporters.h"

#include <algorithm>
#include <array>

namespace lockstep::analyzer {
namespace {

constexpr auto kExporters = std::to_array<const Exporter*>({
#define LOCKSTEP_EXPORTER(name) &exporters::name,
#include "analyzer/export/exporters.def"
});

}  // namespace

std::span<const Exporter* const> all_exporters() {
  return kExporters;
}

const Exporter* find_exporter(std::string_view name) {
  const auto found = std::find_if(kExporters.begin(), kExporters.end(),
                                  [&](const Exporter* exporter) { return exporter->name == name; });
  return found == kExporters.end() ? nullptr : *found;
}

Status can_export(const Exporter& exporter, const std::filesystem::path& target, Overwrite overwrite) {
  std::filesystem::path file = target;
  if (!exporter.file_in_folder.empty()) {
    file /= exporter.file_in_folder;
    if (!std::filesystem::exists(file)) return {};
  }
  const Result<OutputPath> path = OutputPath::create(file, overwrite);
  return path.ok() ? Status() : Status(path.error());
}

Status write_export(const Exporter& exporter, const Job& job, const Analysis& analysis,
                    const ExportOptions& options, const std::filesystem::path& target) {
  if (exporter.write_path != nullptr) return exporter.write_path(job, analysis, options, target);
  Result<OutputFile> file = OutputFile::create(target, options.overwrite);
  if (!file.ok()) return file.error();
  exporter.write_stream(job, analysis, options, file.value().stream());
  return file.value().commit();
}

}  // namespace lockstep::analyzer
