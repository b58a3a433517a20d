#include "analyzer/explain/explanations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {
namespace {

struct Section {
  const char* heading;
  std::string_view text;
};

std::vector<Section> sections_of(const Explanation& explanation) {
  std::vector<Section> sections{
      {"found", explanation.found}, {"wrong if", explanation.wrong}, {"lost", explanation.lost}};
  std::erase_if(sections, [](const Section& section) { return section.text.empty(); });
  return sections;
}

std::string codes_of(const ExplainedKinds& explained, std::string_view between) {
  std::vector<std::string_view> codes;
  codes.reserve(explained.kinds.size());
  for (const FindingKind* const kind : explained.kinds) codes.push_back(kind->code);
  return fmt::format("{}", fmt::join(codes, between));
}

Line heading_of(const ExplainedKinds& explained) {
  return Line{}.bold(codes_of(explained, ", ")).text(": ").text(explained.title());
}

// `level`: how deep its heading lies.
std::string as_markdown(const ExplainedKinds& explained, std::string_view level) {
  const Explanation& explanation = explained.explanation();
  std::string text = fmt::format("{} `{}`\n\n**{}**. {}\n", level, codes_of(explained, "`, `"),
                                 explained.title(), explanation.meaning);
  for (const Section& section : sections_of(explanation))
    text += fmt::format("\n*{}*: {}\n", section.heading, section.text);
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
  for (const Section& section : sections_of(explanation)) {
    page.blank();
    page.wrap(Line{}.bold(section.heading).text(": ").text(section.text), 2, 4);
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

}  // namespace lockstep::analyzer
