#include "analyzer/import/run/importer.h"

#include <array>
#include <cstddef>
#include <utility>

#include "analyzer/import/run/run.h"
#include "trace/reader.h"

namespace lockstep::analyzer {
namespace {

Certainty recognise_run(const FileBeginning& file) {
  const std::string_view bytes = file.bytes();
  if (trace::Reader::recognises(std::as_bytes(std::span(bytes.data(), bytes.size()))))
    return Certainty::certain;
  // One of ours that was cut to nothing while it was written: what came later stands behind zeros.
  constexpr std::size_t kHeaders = 96;
  return file.path().extension() == ".lst" && !bytes.empty() && bytes.find_first_not_of('\0') >= kHeaders
             ? Certainty::certain
             : Certainty::none;
}

Result<std::vector<RankImport>> read_run(const std::filesystem::path& file, const ReadOptions& options) {
  return of_one_rank(
      run::import_file(file, {options.keep_host_ranges, options.communication, options.interrupted_at}));
}

constexpr auto kExamples = std::to_array<ImportExample>({
    {"run", "a run recorded by `lockstep record -o run -- …`"},
});

}  // namespace

constinit const Importer importers::run{
    .name = "run",
    .source = "lockstep",
    .title = "runs of lockstep record",
    .description = "runs of lockstep record",
    .understood = "run folders of `lockstep record` and their .lst files",
    .files = "rank-<N>.lst",
    .content = "a trace of ours",
    .sample = "\x89LST\r\n\x1a\n",
    .examples = kExamples,
    .recognise = recognise_run,
    .read = read_run,
    .tells_how_it_ended = true,
};

}  // namespace lockstep::analyzer
