#include "viewer/views/range_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <variant>

#include "analyzer/report/measure_fields.h"
#include "analyzer/report/range_report.h"

namespace lockstep::viewer {
namespace {

using analyzer::MeasureField;
using Json = nlohmann::ordered_json;

// Every figure another one, so that none can stand for another.
analyzer::Measures distinct() {
  analyzer::Measures m;
  std::int64_t next = 1'000'000'007;
  for (const MeasureField& field : analyzer::measure_fields()) {
    if (const auto* const time = std::get_if<MeasureField::Time>(&field.member)) m.*(*time) = next++;
    if (const auto* const time = std::get_if<MeasureField::OptionalTime>(&field.member)) m.*(*time) = next++;
  }
  m.partition.compute_over_communication_ns = next++;
  for (std::int64_t& part : m.partition.ns) part = next++;
  return m;
}

// Name and value of all whole numbers and nulls that the document has of a rank, ratios left out.
std::vector<std::pair<std::string, Json>> of_document(const analyzer::Measures& measures) {
  std::ostringstream text;
  analyzer::write_json(analyzer::RangeReport{0, 1, {{0, measures}}}, text);
  const Json rank = Json::parse(text.str())["ranks"][0];
  std::vector<std::pair<std::string, Json>> found;
  for (const auto& [name, value] : rank.items()) {
    if (name.ends_with("_ns")) {
      found.emplace_back(name, value);
    } else if (name == "partition" && !value.is_null()) {
      for (const auto& [cause, ns] : value.items()) found.emplace_back("partition." + cause, ns);
    }
  }
  return found;
}

std::vector<std::pair<std::string, Json>> of_figures(const analyzer::Measures& measures) {
  std::vector<std::pair<std::string, Json>> found;
  for (const RangeFigure& figure : range_figures()) {
    const auto value = figure.of(measures);
    // The document has no partition at all where nothing is known.
    if (!value && figure.name.starts_with("partition.")) continue;
    found.emplace_back(figure.name, value ? Json(*value) : Json(nullptr));
  }
  return found;
}

TEST(RangeFigures, AreTheDocumentsByNameOrderAndValue) {
  EXPECT_EQ(of_figures(distinct()), of_document(distinct()));
  const std::span<const MeasureField> fields = analyzer::measure_fields();
  const auto times =
      std::count_if(fields.begin(), fields.end(), [](const auto& one) { return one.is_time(); });
  EXPECT_EQ(range_figures().size(), static_cast<std::size_t>(times) + 1 + analyzer::kCauseCount);
}

TEST(RangeFigures, AreAbsentWhereTheDocumentSaysNull) {
  analyzer::Measures m = distinct();
  m.waits_known = false;
  EXPECT_EQ(of_figures(m), of_document(m));
  m.known = false;
  EXPECT_EQ(of_figures(m), of_document(m));
  m.window_ns = 0;
  EXPECT_EQ(of_figures(m), of_document(m));
}

}  // namespace
}  // namespace lockstep::viewer
