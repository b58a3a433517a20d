// CSV as RFC 4180 has it: comma, CRLF, fields quoted where they hold a comma, quote, CR or LF. NULL is an
// empty field; an empty text is "". A text that a spreadsheet would take for a formula gets an apostrophe
// before it.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ostream>
#include <string>
#include <system_error>

#include "analyzer/export/export.h"
#include "analyzer/export/exporters.h"
#include "analyzer/export/tables.h"

namespace lockstep::analyzer {
namespace {

// Spreadsheets take a field for a formula by its first character (OWASP, "CSV Injection").
bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

void append_text(std::string& line, std::string_view text, Formulas formulas) {
  const bool marked = formulas == Formulas::as_text && is_formula(text);
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    if (marked) line += '\'';
    line += text;
    return;
  }
  line += '"';
  if (marked) line += '\'';
  for (const char c : text) {
    line += c;
    if (c == '"') line += '"';
  }
  line += '"';
}

void append_value(std::string& line, const Value& value, Formulas formulas) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    fmt::format_to(std::back_inserter(line), "{}", *number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    fmt::format_to(std::back_inserter(line), "{}",
                   *real);  // the shortest text that reads back as the same value
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    append_text(line, *text, formulas);
  }
}

void write_table(const TableDefinition& table, const Job& job, const Analysis& analysis, Formulas formulas,
                 std::ostream& out) {
  std::string line;
  for (const TableColumn& column : table.columns) {
    if (!line.empty()) line += ',';
    line += column.name;
  }
  out << line << "\r\n";
  table.rows(job, analysis, [&](std::span<const Value> row) {
    line.clear();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += ',';
      append_value(line, row[i], formulas);
    }
    line += "\r\n";
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
    return static_cast<bool>(out);
  });
}

}  // namespace

void write_activities_csv(const Job& job, const Analysis& analysis, std::ostream& out, Formulas formulas) {
  write_table(activities_table(), job, analysis, formulas, out);
}

Status write_csv(const Job& job, const Analysis& analysis, const std::filesystem::path& folder,
                 Overwrite overwrite, Formulas formulas) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{fmt::format("cannot make the folder {}: {}", folder.string(), error.message())};
  // All files are written before the first one gets its name: a refusal, or a full disk, leaves nothing half
  // done.
  std::vector<OutputFile> files;
  for (const TableDefinition& table : table_definitions()) {
    Result<OutputFile> file = OutputFile::create(folder / (std::string(table.name) + ".csv"), overwrite);
    if (!file.ok()) return file.error();
    files.push_back(std::move(file).value());
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    write_table(table_definitions()[i], job, analysis, formulas, files[i].stream());
  }
  for (OutputFile& file : files) {
    if (Status written = file.finish(); !written.ok()) return written;
  }
  for (OutputFile& file : files) {
    if (Status committed = file.commit(); !committed.ok()) return committed;
  }
  return {};
}

constinit const Exporter exporters::csv{
    .name = "csv",
    .title = "CSV",
    .description = "the same tables, one file each, in a folder; with -o - the table of activities on stdout",
    .ending = "-csv",
    .write_stream = [](const Job& job, const Analysis& analysis, const ExportOptions& options,
                       std::ostream& out) { write_activities_csv(job, analysis, out, options.formulas); },
    .write_path =
        [](const Job& job, const Analysis& analysis, const ExportOptions& options,
           const std::filesystem::path& folder) {
          return write_csv(job, analysis, folder, options.overwrite, options.formulas);
        },
    .file_in_folder = "metadata.csv",
};

}  // namespace lockstep::analyzer
