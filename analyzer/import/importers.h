// All importers, as importers.cpp lists them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/rank/importer.h"
#include "base/result.h"

namespace lockstep::analyzer {

// In the order in which people read of them.
std::span<const Importer* const> all_importers();

struct Recognition {
  const Importer* importer = nullptr;
  Certainty certainty = Certainty::none;
};

// Who reads a file: the importer that is surest, the first of several. Errors: the file can't be opened; it
// is of no kind, and then the error says what is understood.
Result<Recognition> recognise_file(const std::filesystem::path& file);

// A text of all importers that have it: of those that read ranks, or of those whose files stand beside.
std::vector<std::string_view> texts_of_importers(std::string_view Importer::*text, bool of_ranks = true);
// "Lockstep reads …", and what files are called in a folder: "rank-<N>.lst, *.json or …".
std::string what_is_understood();
std::string names_of_files();

}  // namespace lockstep::analyzer
