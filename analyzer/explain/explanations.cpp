#include "analyzer/explain/explanations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "analyzer/explain/table.h"

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

}  // namespace

std::span<const Explanation> explanations() {
  static const std::vector<Explanation> all = [] {
    std::vector<Explanation> list;
    for (auto part : {explain_endings(), explain_waiting(), explain_communication(), explain_sharding(),
                      explain_idling(), explain_doubts()})
      std::move(part.begin(), part.end(), std::back_inserter(list));
    return list;
  }();
  return all;
}

const Explanation* find_explanation(std::string_view code) {
  for (const Explanation& explanation : explanations())
    if (std::find(explanation.codes.begin(), explanation.codes.end(), code) != explanation.codes.end())
      return &explanation;
  return nullptr;
}

void print_explanation(const Explanation& explanation, Page& page) {
  page.wrap(
      Line{}.bold(fmt::format("{}", fmt::join(explanation.codes, ", "))).text(": ").text(explanation.title),
      0, 2);
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
  for (const Explanation& explanation : explanations())
    page.wrap(
        Line{}.bold(fmt::format("{}", fmt::join(explanation.codes, ", "))).text(": ").text(explanation.title),
        2, 6);
}

std::string explanations_as_markdown() {
  std::string text =
      "# Findings\n\nWhat `lockstep analyze` finds, how, and what changes it. This page is what `lockstep "
      "explain "
      "--markdown` prints;\nthe definitions behind the figures are in [metrics.md](metrics.md).\n";
  for (const Explanation& explanation : explanations()) {
    text += fmt::format("\n## `{}`\n\n**{}**. {}\n", fmt::join(explanation.codes, "`, `"), explanation.title,
                        explanation.meaning);
    for (const Section& section : sections_of(explanation))
      text += fmt::format("\n*{}*: {}\n", section.heading, section.text);
    text += "\n";
    for (const Remedy& remedy : explanation.remedies)
      text += fmt::format("- **{}**: {}\n", remedy.where, remedy.what);
  }
  return text;
}

}  // namespace lockstep::analyzer
