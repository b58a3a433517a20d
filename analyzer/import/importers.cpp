#include "analyzer/import/importers.h"

#include <fmt/format.h>

#include <array>

#include "analyzer/import/flight_recorder/importer.h"
#include "analyzer/import/kineto/importer.h"
#include "analyzer/import/nccl_log/importer.h"
#include "analyzer/import/nsys/importer.h"
#include "analyzer/import/run/importer.h"
#include "base/words.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kImporters = std::to_array<const Importer*>({
    &importers::run,
    &importers::kineto,
    &importers::nsys,
    &importers::flight_recorder,
    &importers::nccl_log,
});

std::string of_no_kind() {
  std::vector<std::string_view> contents = texts_of_importers(&Importer::content, true);
  for (const std::string_view content : texts_of_importers(&Importer::content, false))
    contents.push_back(content);
  return "neither " + join_words(contents, ", nor ");
}

}  // namespace

std::span<const Importer* const> all_importers() {
  return kImporters;
}

Result<Recognition> recognise_file(const std::filesystem::path& file) {
  const Result<FileBeginning> beginning = FileBeginning::read(file);
  if (!beginning.ok()) return beginning.error();
  Recognition surest;
  for (const Importer* importer : kImporters) {
    const Certainty certainty = importer->recognise(beginning.value());
    if (certainty > surest.certainty) surest = {importer, certainty};
    if (certainty == Certainty::certain) break;
  }
  if (surest.certainty == Certainty::none)
    return Error{fmt::format("{}: {}. {}", file.string(), of_no_kind(), what_is_understood())};
  return surest;
}

std::vector<std::string_view> texts_of_importers(std::string_view Importer::*text, bool of_ranks) {
  std::vector<std::string_view> found;
  for (const Importer* importer : kImporters)
    if ((importer->read != nullptr) == of_ranks && !(importer->*text).empty())
      found.push_back(importer->*text);
  return found;
}

std::string what_is_understood() {
  return fmt::format("Lockstep reads {}: one file a rank, or a folder of them; and beside them {}",
                     join_words(texts_of_importers(&Importer::understood, true), ", ", ", and "),
                     join_words(texts_of_importers(&Importer::understood, false), ", ", " and "));
}

std::string names_of_files() {
  return join_words(texts_of_importers(&Importer::files, true), ", ", " or ");
}

}  // namespace lockstep::analyzer
