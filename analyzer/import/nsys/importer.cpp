#include "analyzer/import/nsys/importer.h"

#include <array>

#include "analyzer/import/nsys/nsys.h"

namespace lockstep::analyzer {
namespace {

Certainty recognise_nsys(const FileBeginning& file) {
  return file.bytes().starts_with("SQLite format 3") ? Certainty::certain : Certainty::none;
}

bool may_be_named(std::string_view name) {
  return name.ends_with(".sqlite") || name.ends_with(".sqlite.gz");
}

Result<std::vector<RankImport>> read_nsys(const std::filesystem::path& file, const ReadOptions& options) {
  return nsys::import_file(file, {options.keep_host_ranges, options.communication});
}

constexpr auto kExamples = std::to_array<ImportExample>({
    {"report.sqlite", "nsys export --type sqlite report.nsys-rep"},
});

}  // namespace

constinit const Importer importers::nsys{
    .name = "nsys",
    .source = "nsys",
    .title = "SQLite exports of nsys",
    .description = "SQLite exports of Nsight Systems",
    .understood = "SQLite exports of Nsight Systems (`nsys export --type sqlite`)",
    .files = "*.sqlite",
    .sample = "SQLite format 3",
    .examples = kExamples,
    .recognise = recognise_nsys,
    .may_be_named = may_be_named,
    .counts_by_name = true,
    .read = read_nsys,
};

}  // namespace lockstep::analyzer
