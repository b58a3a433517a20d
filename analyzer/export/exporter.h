// A format of `lockstep export`. Each stands in the file that writes it, and in the list of exporters.def.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string_view>

#include "analyzer/analysis.h"
#include "analyzer/export/export.h"
#include "analyzer/model/job.h"
#include "base/output_file.h"
#include "base/result.h"

namespace lockstep::analyzer {

struct ExportOptions {
  Overwrite overwrite = Overwrite::refuse;
  Formulas formulas = Formulas::as_text;
};

// All formats need a job with its host ranges, and its analysis with the report and the summaries. Each
// writes to a stream, to a path, or to both: a stream then holds what of the folder is worth most there.
struct Exporter {
  std::string_view name;              // of --format
  std::string_view title;             // a heading of docs/export.md
  std::string_view description;       // of `lockstep export --help`: one line
  std::string_view ending;            // of a name that is made of the run's
  std::string_view opened_with = {};  // what opens it; empty: that goes without saying

  // Failure is the stream's state.
  void (*write_stream)(const Job& job, const Analysis& analysis, const ExportOptions& options,
                       std::ostream& out) = nullptr;
  std::string_view why_no_stream = {};  // where there is none

  // Null: a file of what is written to a stream.
  Status (*write_path)(const Job& job, const Analysis& analysis, const ExportOptions& options,
                       const std::filesystem::path& path) = nullptr;
  // Of formats that write a folder, the file that is there where the folder was written before.
  std::string_view file_in_folder = {};
};

}  // namespace lockstep::analyzer
