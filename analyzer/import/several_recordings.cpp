#include "analyzer/import/several_recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/import/rank/file_name.h"

namespace lockstep::analyzer {
namespace {

namespace fs = std::filesystem;

// The ranks of one subfolder, by the kind of file: a profile and a dump of one rank tell of one job.
using Subfolder = std::set<std::pair<std::string, std::int32_t>>;

// The folder that holds all files, however deep it lies in the one that was given.
fs::path folder_of_all(const std::vector<RankImport>& imports) {
  fs::path common = fs::path(imports.front().trace.file).parent_path();
  for (const RankImport& import : imports) {
    const fs::path folder = fs::path(import.trace.file).parent_path();
    const auto parts = std::mismatch(common.begin(), common.end(), folder.begin(), folder.end());
    fs::path shared;
    for (auto part = common.begin(); part != parts.first; ++part) shared /= *part;
    common = std::move(shared);
  }
  return common;
}

// A rank that both have.
std::optional<std::int32_t> rank_in_both(const Subfolder& a, const Subfolder& b) {
  for (const auto& rank : a)
    if (b.contains(rank)) return rank.second;
  return std::nullopt;
}

}  // namespace

Error choose_one(const fs::path& folder, std::string_view what, std::vector<fs::path> of) {
  constexpr std::size_t kMaxListed = 20;
  std::sort(of.begin(), of.end(),
            [](const fs::path& a, const fs::path& b) { return name_comes_before(a.native(), b.native()); });
  std::string message =
      fmt::format("{}: {}; give one of them, for example {}", folder.string(), what, of.front().string());
  for (std::size_t i = 0; i < std::min(of.size(), kMaxListed); ++i)
    message += fmt::format("\n  {}", of[i].string());
  if (of.size() > kMaxListed) message += fmt::format("\n  … and {} more", of.size() - kMaxListed);
  return Error{std::move(message)};
}

Status must_be_one_job(const std::string& folder, const std::vector<RankImport>& imports) {
  if (imports.empty()) return {};
  const fs::path all = folder_of_all(imports);
  const auto depth = std::distance(all.begin(), all.end());
  std::map<fs::path, Subfolder> folders;
  for (const RankImport& import : imports) {
    const fs::path within = fs::path(import.trace.file).parent_path();
    if (std::distance(within.begin(), within.end()) == depth) return {};
    // Where no file numbers the ranks, those of several files are counted on: they may be one job's.
    if (!import.rank_known || import.rank_is_assumed) continue;
    folders[all / *std::next(within.begin(), depth)].emplace(import.source, import.trace.rank);
  }
  if (folders.empty()) return {};
  std::optional<std::int32_t> said;
  for (const auto& [path, ranks] : folders) {
    std::optional<std::int32_t> twice;
    for (const auto& [other, others_ranks] : folders)
      if (!twice && other != path) twice = rank_in_both(ranks, others_ranks);
    // One that has ranks of its own alone may belong to another: which is a whole job nobody can tell.
    if (!twice) return {};
    if (!said) said = twice;
  }
  std::vector<fs::path> paths;
  for (const auto& [path, ranks] : folders) paths.push_back(path);
  return choose_one(folder,
                    fmt::format("{} folders in this folder are of several jobs (rank {} is in more than one)",
                                folders.size(), *said),
                    std::move(paths));
}

}  // namespace lockstep::analyzer
