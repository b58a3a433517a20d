// An importer: one kind of files that a team has, how it is told from others, and how it is read. Each has a
// folder of its own, stands in the importer.cpp there, and in the list of importers.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/import/rank/file_beginning.h"
#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer {

class CommunicationPatterns;  // rank/communication_patterns.h
struct RankImport;            // rank/rank_import.h

// How sure an importer is that a file is one of its own. The surest reads it.
enum class Certainty : std::uint8_t {
  none,
  possible,  // if it is nothing else: it may be of another program altogether
  likely,    // by words that stand in it
  certain,
};

struct ReadOptions {
  bool keep_host_ranges = false;
  const CommunicationPatterns* communication = nullptr;  // what the user says; may be null
  std::int64_t interrupted_at = 0;  // when the job was interrupted, ns since 1970; 0: it was not
  // Called now and then with the bytes of the file that were read since the last call; may be empty. Only of
  // importers that tell their progress.
  std::function<void(std::uint64_t bytes)> progress;
};

// A line of `lockstep analyze --help`.
struct ImportExample {
  std::string_view arguments;
  std::string_view meaning;
};

struct Importer {
  std::string_view name;          // of the folder
  std::string_view source = {};   // RankImport::source of all that it reads
  std::string_view title;         // what people have, in a few words: in README.md, and in the window
  std::string_view description;   // the same in one line: for whom the window can't open something
  std::string_view understood;    // the same in errors, with what writes such files
  std::string_view files = {};    // as they are called in a folder: "*.json"
  std::string_view content = {};  // what a file that is of no kind is not: "JSON"
  std::string_view sample;        // how such a file begins, for tests
  std::span<const ImportExample> examples;

  // By content. A name counts at most where damage left none.
  Certainty (*recognise)(const FileBeginning& file) = nullptr;
  // Which files of a folder are looked at; null: none.
  bool (*may_be_named)(std::string_view file_name) = nullptr;
  // Such a name is enough: a file that is no trace then is said to be none. Else its content has to be of
  // this kind.
  bool counts_by_name = false;

  // The ranks that a file holds; null: such files hold none.
  Result<std::vector<RankImport>> (*read)(const std::filesystem::path& file,
                                          const ReadOptions& options) = nullptr;
  bool tells_progress = false;
  bool tells_how_it_ended = false;  // which is worth a report even where a rank did nothing

  // Of files that hold no ranks: adds what all of them say together to the job, once it is there.
  void (*add)(const std::vector<std::filesystem::path>& files, Job& job) = nullptr;
  std::string_view why_not_alone = {};  // they can't be analyzed without a trace
};

}  // namespace lockstep::analyzer
