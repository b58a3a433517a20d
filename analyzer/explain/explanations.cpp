#include "analyzer/explain/explanations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {
namespace {

std::string codes_of(const ExplainedKinds& explained, std::string_view between) {
  std::vector<std::string_view> codes;
  codes.reserve(explained.kinds.size());
  for (const FindingKind* const kind : explained.kinds) codes.push_back(kind->code);
  return fmt::format("{}", fmt::join(codes, between));
}

Line heading_of(const ExplainedKinds& explained) {
  return Line{}.bold(codes_of(explained, ", ")).text(": ").text(explained.title());
}

const char* severity_of(const FindingKind& kind) {
  switch (kind.severity) {
    case SeverityRule::high:
      return "high";
    case SeverityRule::medium:
      return "medium";
    case SeverityRule::note:
      return "note";
    case SeverityRule::by_loss:
      break;
  }
  return "by what is lost";
}

// `level`: how deep its heading lies.
std::string as_markdown(const ExplainedKinds& explained, std::string_view level) {
  const Explanation& explanation = explained.explanation();
  std::string text = fmt::format("{} `{}`\n\n**{}**. {}\n", level, codes_of(explained, "`, `"),
                                 explained.title(), explanation.meaning);
  for (const ExplanationPart& part : parts_of(explanation))
    text += fmt::format("\n*{}*: {}\n", part.heading, part.text);
  text += "\n";
  for (const Remedy& remedy : explanation.remedies)
    text += fmt::format("- **{}**: {}\n", remedy.where, remedy.what);
  return text;
}

}  // namespace

std::span<const ExplainedKinds> explanations() {
  static const std::vector<ExplainedKinds> kAll = [] {
    std::vector<ExplainedKinds> all;
    for (const FindingKind* const kind : finding_kinds()) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const ExplainedKinds& explained) {
        return &explained.explanation() == kind->explanation;
      });
      if (same == all.end())
        all.push_back({{kind}});
      else
        same->kinds.push_back(kind);
    }
    return all;
  }();
  return kAll;
}

const ExplainedKinds* find_explanation(std::string_view code) {
  for (const ExplainedKinds& explained : explanations())
    for (const FindingKind* const kind : explained.kinds)
      if (kind->code == code) return &explained;
  return nullptr;
}

void print_explanation(const ExplainedKinds& explained, Page& page) {
  const Explanation& explanation = explained.explanation();
  page.wrap(heading_of(explained), 0, 2);
  page.blank();
  page.wrap(Line{}.text(explanation.meaning), 2, 2);
  for (const ExplanationPart& part : parts_of(explanation)) {
    page.blank();
    page.wrap(Line{}.bold(part.heading).text(": ").text(part.text), 2, 4);
  }
  page.blank();
  for (const Remedy& remedy : explanation.remedies)
    page.wrap(
        Line{}.text(page.options().ascii ? "-> " : "→ ").bold(remedy.where).text(": ").text(remedy.what), 2,
        4);
}

void print_explanations(Page& page) {
  for (const ExplainedKinds& explained : explanations()) page.wrap(heading_of(explained), 2, 6);
}

std::string explanations_as_markdown() {
  std::string text =
      "# Findings\n"
      "\n"
      "What `lockstep analyze` finds, how, and what changes it. This page is what `lockstep explain "
      "--markdown` prints;\n"
      "the definitions behind the figures are in [metrics.md](metrics.md).\n";
  for (const ExplainedKinds& explained : explanations()) text += "\n" + as_markdown(explained, "##");
  return text;
}

std::vector<ExplanationPage> explanation_pages() {
  std::vector<ExplanationPage> pages;
  for (const ExplainedKinds& explained : explanations())
    pages.push_back({fmt::format("{}.md", explained.kinds.front()->code),
                     as_markdown(explained, "#") + "\n[Findings](../findings.md)\n"});
  return pages;
}

ExplanationPage index_of_pages() {
  std::string text =
      "# Kinds of findings\n"
      "\n"
      "All values of `findings[].code`, in the order of a report at equal loss, with what `severity`, `cause` and "
      "`accuses` are\n"
      "where the finding itself does not say otherwise ([metrics.md](../metrics.md#the-json-document)). Written by\n"
      "`lockstep explain --pages docs/findings`, out of `analyzer/diagnose/kinds/`. [Findings](../findings.md)\n"
      "\n"
      "| code | what it is called | severity | cause | accuses |\n"
      "|---|---|---|---|---|\n";
  for (const FindingKind* const kind : finding_kinds()) {
    const std::string_view page = find_explanation(kind->code)->kinds.front()->code;
    text += fmt::format("| [`{}`]({}.md) | {} | {} | {} | {} |\n", kind->code, page, kind->title,
                        severity_of(*kind), kind->cause ? fmt::format("`{}`", to_string(*kind->cause)) : "",
                        kind->accuses == Accused::nobody ? "" : to_string(kind->accuses));
  }
  return {"README.md", std::move(text)};
}

}  // namespace lockstep::analyzer
