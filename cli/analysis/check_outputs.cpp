#include "cli/analysis/check_outputs.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "analyzer/gate/history.h"
#include "base/small_file.h"
#include "cli/common/output.h"
#include "cli/common/terminal.h"

namespace lockstep::cli {
namespace {

Status write_text(const char* flag, const std::string& path, const std::string& text) {
  return write_file(flag, path, [&](std::ostream& out) { out << text; });
}

std::string content_of(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? read_small_file(path, kWholeFile) : std::string();
}

// A job's summary is a file that every step adds to.
Status append_file(const char* flag, const std::string& path, const std::string& text) {
  const std::string before = content_of(path);
  return write_text(flag, path, before.empty() ? text : before + "\n" + text);
}

struct Export {
  std::string format, file;
};

Result<Export> parse_export(const std::string& text) {
  const std::size_t equals = text.find('=');
  Export one{text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
  if ((one.format != "otava" && one.format != "bencher") || one.file.empty())
    return Error{fmt::format("--export {}: give otava=FILE or bencher=FILE", text)};
  return one;
}

std::string commit_of(const CheckOutputs& outputs) {
  if (!outputs.commit.empty()) return outputs.commit;
  // Of GitHub, GitLab and Jenkins.
  for (const char* const name : {"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"})
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return "";
}

// What is appended to stands whole in the file, or not at all.
Status write_exports(const CheckOutputs& outputs, const analyzer::Verdict& verdict,
                     std::span<const analyzer::RunRecord> head, const std::string& time) {
  const analyzer::CheckStamp stamp{.time = time, .commit = commit_of(outputs)};
  if (!outputs.history.empty()) {
    const std::string line = analyzer::to_history(verdict, head, stamp).dump() + "\n";
    const Status status = write_text("--history", outputs.history, content_of(outputs.history) + line);
    if (!status.ok()) return status;
  }
  for (const std::string& text : outputs.exports) {
    const Result<Export> one = parse_export(text);
    if (!one.ok()) return one.error();
    const std::string& file = one.value().file;
    if (one.value().format == "bencher") {
      const std::string json = analyzer::to_bencher(verdict, outputs.name).dump(1) + "\n";
      if (const Status status = write_text("--export", file, json); !status.ok()) return status;
      continue;
    }
    const Result<std::string> lines = analyzer::append_to_otava(content_of(file), verdict, stamp);
    if (!lines.ok()) return Error{fmt::format("--export {}: {}", text, lines.error().message)};
    if (const Status status = write_text("--export", file, lines.value()); !status.ok()) return status;
  }
  return {};
}

}  // namespace

void describe_outputs(CLI::App& app, CheckOutputs& outputs) {
  app.add_option("--json", outputs.json,
                 "Write the verdict as JSON (lockstep.check/1); - is stdout, and nothing else")
      ->option_text("FILE");
  app.add_option("--markdown", outputs.markdown, "Append it as Markdown, as GitHub's job summary takes it")
      ->option_text("FILE");
  app.add_option("--junit", outputs.junit, "Write it as a JUnit test report, a test case a figure")
      ->option_text("FILE");
  app.add_option("--history", outputs.history,
                 "Append the job's figures as a line of JSON (lockstep.history/1)")
      ->option_text("FILE");
  app.add_option("--export", outputs.exports,
                 "Figures for a program that keeps them: otava=FILE appends a line of CSV for Apache Otava, "
                 "bencher=FILE writes Bencher's JSON. May be repeated")
      ->option_text("FORMAT=FILE");
  app.add_option("--commit", outputs.commit,
                 "What was checked, for --history and --export [GITHUB_SHA, CI_COMMIT_SHA or GIT_COMMIT]")
      ->option_text("ID");
  app.add_option("--name", outputs.name, "What the job is called in --export bencher [lockstep]")
      ->option_text("NAME");
  describe_color(app, outputs.color);
  app.add_flag("-q,--quiet", outputs.quiet, "Print no verdict and no progress; for the exit code");
}

Status check_outputs(const CheckOutputs& outputs) {
  for (const std::string& text : outputs.exports)
    if (const Result<Export> one = parse_export(text); !one.ok()) return one.error();
  return {};
}

Status write_outputs(const CheckOutputs& outputs, const analyzer::Verdict& verdict,
                     std::span<const analyzer::RunRecord> head, const analyzer::VerdictContext& context) {
  if (!outputs.json.empty()) {
    const std::string text = analyzer::to_json(verdict, context).dump(1) + "\n";
    const Status status = outputs.json == "-" ? write_to_stdout([&](std::ostream& out) { out << text; })
                                              : write_text("--json", outputs.json, text);
    if (!status.ok()) return status;
  }
  if (!outputs.junit.empty()) {
    const Status status = write_text("--junit", outputs.junit, analyzer::to_junit(verdict, context));
    if (!status.ok()) return status;
  }
  if (!outputs.markdown.empty()) {
    const Status status =
        append_file("--markdown", outputs.markdown, analyzer::to_markdown(verdict, context));
    if (!status.ok()) return status;
  }
  if (const Status status = write_exports(outputs, verdict, head, context.time); !status.ok()) return status;
  if (outputs.quiet || outputs.json == "-") return {};
  const std::string text = analyzer::to_text(verdict, context, page_options_for_stdout(outputs.color));
  return write_to_stdout([&](std::ostream& out) { out << text; });
}

}  // namespace lockstep::cli
