// A folder that people gave because what they want is in it: it may hold several jobs, of which one is
// analyzed at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/rank/rank_import.h"
#include "base/result.h"

namespace lockstep::analyzer {

// "FOLDER: WHAT; give one of them, for example FOLDER/a", and all of them. Precondition: there is one.
Error choose_one(const std::filesystem::path& folder, std::string_view what,
                 std::vector<std::filesystem::path> of);

// Error: the files lie in subfolders of `folder`, none beside them, and each subfolder has a rank that
// another one has too. Folders of different ranks, as one a rank or one a host, may be one job's.
Status must_be_one_job(const std::string& folder, const std::vector<RankImport>& imports);

}  // namespace lockstep::analyzer
