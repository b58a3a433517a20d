// `lockstep explain`: what a finding means, how it is found and what to do about it.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/explain/explanations.h"
#include "base/near_names.h"
#include "base/output_file.h"
#include "cli/analysis/verbs.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"
#include "cli/common/parse.h"
#include "cli/common/terminal.h"

namespace lockstep::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  lockstep explain                       all codes, a line each\n"
    "  lockstep explain host_bound            what it means, how it is found, what would show it wrong\n"
    "  lockstep analyze run --json - | jq -r '.findings[].code' | xargs lockstep explain\n"
    "\n"
    "Exit code: 0 explained; 2 there is no such code, or wrong usage.\n";

struct Arguments {
  std::vector<std::string> codes;
  std::string color = "auto", pages;
  bool markdown = false, ascii = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("CODES", arguments.codes,
                 "Codes of findings, as in `lockstep analyze`; none: all, a line each");
  app.add_flag("--markdown", arguments.markdown, "All of them as a page in Markdown");
  app.add_option(
         "--pages", arguments.pages,
         "Write each as a page in Markdown into this folder (docs/findings), and README.md, which lists them")
      ->option_text("DIR");
  app.add_flag("--ascii", arguments.ascii, "No characters outside ASCII");
  describe_color(app, arguments.color);
  app.footer(kExamples);
}

// An error that names the codes that there are not, and the nearest there are.
Status check(const std::vector<std::string>& codes) {
  std::vector<std::string> names;
  for (const analyzer::FindingKind* const kind : analyzer::finding_kinds()) names.emplace_back(kind->code);
  for (const std::string& code : codes) {
    if (analyzer::find_finding_kind(code) != nullptr) continue;
    const std::optional<std::string> near = nearest_name(code, names);
    return Error{fmt::format("there is no finding '{}'.{} `lockstep explain` lists them.", code,
                             near ? " Did you mean '" + *near + "'?" : "")};
  }
  return {};
}

// A page that is there already is replaced; what else is in the folder stays.
Status write_pages(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{fmt::format("--pages {}: {}", folder.string(), error.message())};
  std::vector<analyzer::ExplanationPage> pages = analyzer::explanation_pages();
  pages.push_back(analyzer::index_of_pages());
  for (const analyzer::ExplanationPage& page : pages) {
    const std::string path = (folder / page.file_name).string();
    Result<OutputFile> file = OutputFile::create(path, Overwrite::allow);
    Status status;
    if (file.ok()) {
      file.value().stream() << page.text;
      status = file.value().commit();
    } else {
      status = file.error();
    }
    if (!status.ok()) return Error{fmt::format("--pages {}: {}", path, status.error().message)};
  }
  return {};
}

}  // namespace

int run_explain(int argc, char** argv) {
  CLI::App app(
      "Says what a finding of `lockstep analyze` means, how it is found, what would show it wrong, and "
      "which\n"
      "settings change it.",
      "lockstep explain");
  Arguments arguments;
  describe(app, arguments);
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  if (const Status status = check(arguments.codes); !status.ok()) {
    fail("explain", status.error());
    return kUsage;
  }
  if (arguments.markdown && !arguments.codes.empty()) {
    fail("explain", Error{"--markdown prints all findings: give no codes with it"});
    return kUsage;
  }
  if (!arguments.pages.empty()) {
    if (arguments.markdown || !arguments.codes.empty()) {
      fail("explain", Error{"--pages writes all findings: give neither codes nor --markdown with it"});
      return kUsage;
    }
    const Status written = write_pages(arguments.pages);
    return written.ok() ? kSuccess : fail("explain", written.error());
  }
  std::string text;
  if (arguments.markdown) {
    text = analyzer::explanations_as_markdown();
  } else {
    analyzer::PageOptions options = page_options_for_stdout(arguments.color);
    options.ascii = options.ascii || arguments.ascii;
    analyzer::Page page(options);
    if (arguments.codes.empty()) analyzer::print_explanations(page);
    const analyzer::ExplainedKinds* last = nullptr;
    for (const std::string& code : arguments.codes) {
      const analyzer::ExplainedKinds* const explanation = analyzer::find_explanation(code);
      if (explanation == last) continue;
      if (last != nullptr) page.blank();
      analyzer::print_explanation(*explanation, page);
      last = explanation;
    }
    text = page.take();
  }
  const Status status = write_to_stdout([&](std::ostream& out) { out << text; });
  return status.ok() ? kSuccess : fail("explain", status.error());
}

}  // namespace lockstep::cli
