#include "analyzer/import/flight_recorder/importer.h"

#include <array>

#include "analyzer/import/flight_recorder/flight_recorder.h"
#include "analyzer/import/flight_recorder/outermost_keys.h"

namespace lockstep::analyzer {
namespace {

// Kineto's JSON may begin with keys of a dump, and either with values of any length. What tells them apart is
// looked for in the whole file, and mostly stands within its first bytes.
Certainty recognise_dump(const FileBeginning& file) {
  if (flight_recorder::recognises_pickle(file.text())) return Certainty::certain;
  flight_recorder::OutermostKeys keys;
  if (keys.read(file.bytes())) {
    keys = {};
    file.read_on(flight_recorder::kLargestFile, [&keys](std::string_view piece) { return keys.read(piece); });
  }
  return keys.are_of_a_dump() ? Certainty::certain : Certainty::none;
}

// "nccl_trace_rank_3", "_dump_3", "rank3.pickle": what flight recorders write has any name.
bool may_be_named(std::string_view name) {
  if (name.ends_with(".pickle") || name.ends_with(".pkl")) return true;
  return !name.empty() && name.find('.') == std::string_view::npos && name.back() >= '0' &&
         name.back() <= '9';
}

Result<std::vector<RankImport>> read_dump(const std::filesystem::path& file, const ReadOptions& /*options*/) {
  return of_one_rank(flight_recorder::import_file(file));
}

constexpr auto kExamples = std::to_array<ImportExample>({
    {"nccl_trace_rank_*", "a job that hung: dumps of PyTorch's flight recorder"},
    {"comm_lib_trace_rank_*", "as newer versions of PyTorch name them"},
});

}  // namespace

constinit const Importer importers::flight_recorder{
    .name = "flight_recorder",
    .source = "flight recorder",
    .title = "flight recorder dumps",
    .description = "dumps of PyTorch's flight recorder",
    .understood = "dumps of PyTorch's flight recorder",
    .files = "flight recorder's dump",
    .content = "a pickle",
    .sample = R"({"version": "2.10", "pg_config": {)",
    .examples = kExamples,
    .recognise = recognise_dump,
    .may_be_named = may_be_named,
    .read = read_dump,
    .tells_how_it_ended = true,
};

}  // namespace lockstep::analyzer
