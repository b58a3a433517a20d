// A job and its analysis for other tools (docs/export.md): ui.perfetto.dev, chrome://tracing, SQLite,
// spreadsheets.
//
// Strings are escaped as the format asks and never rewritten; where a format can't hold bytes that are not
// UTF-8 (Perfetto, Chrome JSON) each such byte becomes U+FFFD. Memory on top of the job's: one rank's slices
// at a time.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "analyzer/analysis.h"
#include "analyzer/model/job.h"
#include "base/output_file.h"
#include "base/result.h"

namespace lockstep::analyzer {

// Perfetto's protobuf trace. Failure is the stream's state.
void write_perfetto(const Job& job, const Analysis& analysis, std::ostream& out);

// Trace Event Format, JSON. Failure is the stream's state.
void write_chrome(const Job& job, const Analysis& analysis, std::ostream& out);

// A new SQLite database at `path`, which must not exist.
Status write_sqlite(const Job& job, const Analysis& analysis, const std::filesystem::path& path);

// Texts in CSV that begin with =, +, -, @, tab or CR, which spreadsheets calculate: with an apostrophe before
// them, or as they were recorded.
enum class Formulas { as_text, as_recorded };

// One file per table into `folder`, which is made if it is not there. Refusing, it touches nothing if one of
// the files exists.
Status write_csv(const Job& job, const Analysis& analysis, const std::filesystem::path& folder,
                 Overwrite overwrite, Formulas formulas = Formulas::as_text);
// The table `activities` alone.
void write_activities_csv(const Job& job, const Analysis& analysis, std::ostream& out,
                          Formulas formulas = Formulas::as_text);

}  // namespace lockstep::analyzer
