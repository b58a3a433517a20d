#include "analyzer/import/flight_recorder/flight_recorder.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/import/flight_recorder/document.h"
#include "analyzer/import/flight_recorder/dump.h"
#include "analyzer/import/flight_recorder/json.h"
#include "analyzer/import/flight_recorder/outermost_keys.h"
#include "analyzer/import/flight_recorder/pickle.h"
#include "analyzer/import/flight_recorder/possible_ranks.h"
#include "analyzer/import/flight_recorder/rank_of_dump.h"
#include "analyzer/import/rank/file_name.h"
#include "base/counts.h"
#include "base/number_lists.h"

namespace lockstep::analyzer::flight_recorder {
namespace {

namespace fs = std::filesystem;

// Plain or gzip: zlib passes plain files through.
Result<std::string> contents_of(const fs::path& path) {
  const auto error = [&](const std::string& what) {
    return Error{fmt::format("{}: {}", path.string(), what)};
  };
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) return error("can't be opened (permissions?)");
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    const int got = gzread(file.get(), bytes.data() + before, kPiece);
    bytes.resize(before + static_cast<std::size_t>(std::max(got, 0)));
    if (got < 0 && bytes.empty()) return error("can't be read: damaged, or no permission");
    if (got <= 0) return bytes;  // what a damaged gzip file holds up to there is worth reading
    if (bytes.size() > kLargestFile) return error("more than 1 GiB: more than any flight recorder's dump");
  }
}

struct OwnRank {
  std::optional<std::int32_t> rank;
  std::vector<std::int32_t> possible;  // where it is not known
  std::string doubt;                   // what is to be said about it
};

// PyTorch's own names (TORCH_NCCL_DEBUG_INFO_TEMP_FILE, TORCH_FR_DUMP_TEMP_FILE) with a rank behind them.
bool has_own_spelling(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  for (const std::string_view spelling : {"nccl_trace_rank_", "comm_lib_trace_rank_"}) {
    if (!name.starts_with(spelling)) continue;
    const std::size_t end = name.find_first_not_of("0123456789", spelling.size());
    return end != spelling.size() && (end == std::string::npos || name[end] == '.');
  }
  return false;
}

// What the dump holds counts before its name, which somebody may have given it. Where the recorder gave it,
// the groups that the dump merely lists count less: some programs list groups of other ranks, too.
OwnRank own_rank(const Dump& dump, bool damaged, const std::string& file) {
  std::vector<std::int32_t> possible = possible_ranks(dump, damaged);
  const std::optional<std::int32_t> named = rank_in_file_name(file);
  if (named && has_own_spelling(file) && calls_may_be_of(dump, damaged, *named)) return {named, {}, {}};
  if (possible.empty() || (named && std::ranges::binary_search(possible, *named))) return {named, {}, {}};
  OwnRank own;
  if (possible.size() == 1) own.rank = possible.front();
  if (named) {
    constexpr std::size_t kMost = 8;
    own.doubt = fmt::format(
        "{}: its name says rank {}, but by its groups and messages it is of {} {}: the name is not "
        "believed",
        file, *named, possible.size() == 1 ? "rank" : "one of ranks", list_numbers(possible, kMost));
  }
  if (!own.rank) own.possible = std::move(possible);
  return own;
}

}  // namespace

bool recognises(std::string_view beginning) {
  if (recognises_pickle(beginning)) return true;
  OutermostKeys keys;
  (void)keys.read(beginning);
  return keys.are_of_a_dump();
}

bool recognises_pickle(std::string_view beginning) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(beginning.data(), beginning.size()));
  return looks_like_pickle(bytes) || looks_like_old_pickle(bytes);
}

Result<RankImport> import_bytes(std::span<const std::byte> bytes, const fs::path& path) {
  const std::string file = path.string();
  if (bytes.empty()) return Error{fmt::format("{}: the file is empty", file)};
  if (looks_like_old_pickle(bytes))
    return Error{fmt::format(
        "{}: a pickle of protocol 0 or 1, which is not read: PyTorch's flight recorder writes protocol 2. If "
        "it was pickled again, use pickle.dump(dump, file, protocol=2)",
        file)};
  Document document;
  std::optional<std::string> problem;
  if (looks_like_pickle(bytes)) {
    std::optional<PickleProblem> found = read_pickle(bytes, document);
    if (found && found->refused) return Error{fmt::format("{}: {}", file, found->message)};
    if (found) problem = std::move(found->message);
  } else {
    problem = read_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, document);
  }
  const std::optional<Dump> dump = read_dump(document, problem.has_value());
  if (!dump) {
    return Error{
        problem
            ? fmt::format("{}: no flight recorder's dump could be read: {}. Copy the file again", file,
                          *problem)
            : fmt::format("{}: neither \"entries\" nor \"pg_config\": not a flight recorder's dump", file)};
  }
  const OwnRank own = own_rank(*dump, problem.has_value(), file);
  RankImport import = rank_of_dump(*dump, file, own.rank, problem.has_value());
  import.possible_ranks = own.possible;
  if (!own.doubt.empty()) import.warn("rank_contradicted", own.doubt);
  if (problem) {
    import.warn("file_damaged",
                fmt::format("{}: {}; the {} before are used. Collect the file again", file, *problem,
                            format_plural(dump->entries.size(), "record", "records")));
    import.trace.lost.push_back({-kLatest, kLatest});
  }
  if (!problem && dump->groups.empty() && !dump->entries.empty())  // else the cut is said
    import.warn(
        "group_members_unknown",
        "a dump without pg_config: which ranks its groups have is known only of those whose dumps are here; a "
        "rank without a dump may be the one that never came");
  if (dump->unreadable > 0) {
    import.warn("events_unreadable", fmt::format("{}: {} no records of their own and left out", file,
                                                 format_plural(dump->unreadable, "element of entries is",
                                                               "elements of entries are")));
    import.trace.dropped_events += dump->unreadable;
  }
  return import;
}

Result<RankImport> import_file(const fs::path& path) {
  const Result<std::string> bytes = contents_of(path);
  if (!bytes.ok()) return bytes.error();
  return import_bytes(std::as_bytes(std::span(bytes.value().data(), bytes.value().size())), path);
}

}  // namespace lockstep::analyzer::flight_recorder
