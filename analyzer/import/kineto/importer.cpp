#include "analyzer/import/kineto/importer.h"

#include <array>
#include <utility>

#include "analyzer/import/kineto/kineto.h"

namespace lockstep::analyzer {
namespace {

// Any JSON, and an empty file, is said to be a broken one if it is nothing else.
Certainty recognise_kineto(const FileBeginning& file) {
  const std::string_view text = file.text();
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at != std::string_view::npos && text[at] != '{' && text[at] != '[') return Certainty::none;
  for (const std::string_view key : {"\"traceEvents\"", "\"distributedInfo\"", "\"deviceProperties\""})
    if (file.bytes().find(key) != std::string_view::npos) return Certainty::likely;
  return Certainty::possible;
}

bool may_be_named(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

Result<std::vector<RankImport>> read_kineto(const std::filesystem::path& file, const ReadOptions& options) {
  return of_one_rank(
      kineto::import_file(file, {options.keep_host_ranges, options.communication, options.progress}));
}

constexpr auto kExamples = std::to_array<ImportExample>({
    {"rank0.json.gz rank1.json.gz", "torch.profiler (Kineto) traces, one file a rank"},
});

}  // namespace

constinit const Importer importers::kineto{
    .name = "kineto",
    .source = "kineto",
    .title = "Kineto JSON of PyTorch",
    .description = "Kineto JSON of PyTorch's profiler (also .gz)",
    .understood = "Kineto JSON (torch.profiler), plain or gzip",
    .files = "*.json",
    .content = "JSON",
    .sample = R"({"schemaVersion": 1, "traceEvents": [)",
    .examples = kExamples,
    .recognise = recognise_kineto,
    .may_be_named = may_be_named,
    .counts_by_name = true,
    .read = read_kineto,
    .tells_progress = true,
};

}  // namespace lockstep::analyzer
