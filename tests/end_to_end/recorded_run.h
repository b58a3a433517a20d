// Recording a small program of programs/ and looking at what came of it, in words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {

// A program of tests/end_to_end/programs.
std::string program(const std::string& name);
// The command of programs/nvtx_behaviours with these arguments.
std::vector<std::string> behave(const std::vector<std::string>& arguments);
Outcome shell(const std::string& script, const std::vector<std::string>& environment = {});
std::string injection_library();

// `lockstep record -o FOLDER/run … -- command`.
struct RecordedRun {
  TemporaryFolder folder;
  Outcome outcome;

  std::string run_path() const { return folder / "run"; }
  nlohmann::json manifest() const;
  // Names of the trace files in the run folder, sorted.
  std::vector<std::string> files() const;
  // Opens the only trace file of the run, or the named one.
  trace::Reader open() const;
  trace::Reader open(const std::string& file) const;
};

// `lockstep record -o run_path options -- command`.
std::vector<std::string> record_command(const std::string& run_path, const std::vector<std::string>& options,
                                        const std::vector<std::string>& command);
// What a sanitizer does at a crash, in a forked child and at exit isn't what the recorded program would do;
// and leaks in a child whose parent's threads are gone are no leaks. As "NAME=value".
std::vector<std::string> sanitizers_aside();

// Fills `run`; `environment` is "NAME=value", `options` go before the --.
void record(RecordedRun& run, const std::vector<std::string>& command,
            const std::vector<std::string>& environment = {}, const std::vector<std::string>& options = {});

// Without the recorder's own lines: what the job itself printed.
std::string of_the_job(const std::string& output);
// Whether the manifest says that the run ended, and that both its ranks are there, whole, with events.
bool has_both_ranks_whole(const std::string& run_path);

// Names of all host ranges in file order: "outer", "inner".
std::vector<std::string> range_names(const trace::Reader& reader);
std::vector<std::string> mark_names(const trace::Reader& reader);
std::vector<std::string> unfinished_names(const trace::Reader& reader);
// Losses by reason.
std::map<std::string, std::uint64_t> drops(const trace::Reader& reader);

// One line an event, without times: "coloured [library] category=seventh color=ff336699 lane=main depth=2
// key=1 key=2". What is empty, zero or the default is left out; ranges that don't nest say "free", and their
// end lane if it differs.
std::vector<std::string> describe_ranges(const trace::Reader& reader);
std::vector<std::string> describe_marks(const trace::Reader& reader);

// Every nested range of every lane lies inside the one that is one level up, and no two of a level overlap:
// an empty text, or what is wrong.
std::string find_nesting_error(const trace::Reader& reader);

}  // namespace lockstep::end_to_end
