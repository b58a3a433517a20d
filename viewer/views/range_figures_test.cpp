#include "viewer/views/range_figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/report/range_report.h"

namespace lockstep::viewer {
namespace {

using Json = nlohmann::ordered_json;

// Every figure another one, so that none can stand for another.
analyzer::Measures distinct() {
  analyzer::Measures m;
  std::int64_t next = 1'000'000'007;
  for (std::int64_t* const figure :
       {&m.window_ns, &m.compute_ns, &m.communication_ns, &m.overlap_ns, &m.exposed_communication_ns,
        &m.collective_wait_ns, &m.hidden_collective_wait_ns, &m.p2p_wait_ns, &m.hidden_p2p_wait_ns,
        &m.unclassified_ns, &m.partition.compute_over_communication_ns})
    *figure = next++;
  for (std::int64_t& part : m.partition.ns) part = next++;
  m.off_cpu_ns = next++;
  m.run_queue_ns = next++;
  m.on_core_ns = next++;
  return m;
}

// Name and value of all whole numbers and nulls that the document has of a rank, ratios left out.
std::vector<std::pair<std::string, Json>> of_document(const analyzer::Measures& measures) {
  std::ostringstream text;
  analyzer::write_json(analyzer::RangeReport{0, 1, {{0, measures}}}, text);
  const Json rank = Json::parse(text.str())["ranks"][0];
  std::vector<std::pair<std::string, Json>> found;
  for (const auto& [name, value] : rank.items()) {
    if (name == "rank" || name.starts_with("overlap_ratio")) continue;
    if (name != "partition") {
      found.emplace_back(name, value);
    } else if (!value.is_null()) {
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
  EXPECT_EQ(range_figures().size(), 14 + analyzer::kCauseCount);
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
