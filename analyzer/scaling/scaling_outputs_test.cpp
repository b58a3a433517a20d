#include "analyzer/scaling/scaling_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/diff/sample_sums.h"

namespace lockstep::analyzer {
namespace {

using test::kMs;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ScaleRun run_of(std::int32_t ranks, std::int64_t transfer_ms, std::int64_t odd_ms = 0) {
  return scale_run({}, test::report_of("run<" + std::to_string(ranks), ranks, 12,
                                       [=](std::int32_t, std::int64_t) {
                                         Partition parts;
                                         parts[Cause::compute] = (100 + odd_ms) * kMs;
                                         parts[Cause::transfer] = transfer_ms * kMs;
                                         return parts;
                                       }))
      .value();
}

Scaling one_run_a_size() {
  return scaling_of({run_of(1, 0), run_of(2, 10), run_of(4, 25)}, std::nullopt).value();
}

TEST(ScalingHeadline, HasTheEfficiencyAndItsLargestLoss) {
  EXPECT_EQ(
      headline(one_run_a_size()),
      "On 4 ranks a step takes 125 ms, on 1 rank 100 ms: scaling efficiency 80.0 %, lost above all to transfer "
      "(+25.0 ms).");
  EXPECT_THAT(
      headline(scaling_of({run_of(1, 0), run_of(1, 0, 1), run_of(4, 25), run_of(4, 25, 1)}, ScalingKind::weak)
                   .value()),
      HasSubstr("scaling efficiency 80.1 % ("));
  const Scaling wide =
      scaling_of({run_of(1, 0), run_of(1, 0, 90), run_of(2, 0), run_of(2, 0, 70)}, ScalingKind::weak).value();
  EXPECT_THAT(headline(wide), Not(HasSubstr("% (")));
  EXPECT_THAT(to_text(wide, {}),
              HasSubstr("Of 2 ranks the runs are too few, or differ too much, for an interval."));
  EXPECT_EQ(headline(scaling_of({run_of(1, 0), run_of(2, 0)}, std::nullopt).value()),
            "On 2 ranks a step takes 100 ms, on 1 rank 100 ms: scaling efficiency 100.0 %.");
}

TEST(ScalingText, HasSizesLossesAndRemarks) {
  const std::string text = to_text(one_run_a_size(), {.width = 140});
  EXPECT_THAT(text, AllOf(HasSubstr("Weak scaling"), HasSubstr("--strong)"), HasSubstr("One run a size"),
                          HasSubstr("beside 2 ranks"), HasSubstr("lost to"), HasSubstr("+25.0 ms"),
                          Not(HasSubstr("laws"))));
  const std::string ascii = to_text(one_run_a_size(), {.width = 60, .ascii = true});
  EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return static_cast<unsigned char>(c) < 128; }))
      << ascii;
}

TEST(ScalingJson, SumsAsItsFiguresDo) {
  const nlohmann::ordered_json json = to_json(one_run_a_size());
  EXPECT_EQ(json.at("schema"), "lockstep.scale/1");
  ASSERT_EQ(json.at("sizes").size(), 3U);
  for (const auto& size : json.at("sizes")) {
    std::int64_t loss = 0;
    for (const auto& cause : size.at("loss_by_cause_ns")) loss += cause.get<std::int64_t>();
    EXPECT_EQ(loss, size.at("loss_ns"));
  }
  EXPECT_TRUE(json.at("law").is_null());
}

TEST(ScalingHtml, IsOnePageWithChartsAndNoForeignMarkup) {
  Scaling scaling = one_run_a_size();
  scaling.points[1].shared = "2 ranks share 1 core of host <b>";
  const std::string html = to_html(scaling);
  EXPECT_THAT(html, AllOf(HasSubstr("<svg"), HasSubstr("80.0 %"), HasSubstr("host &lt;b>"),
                          Not(HasSubstr("host <b>"))));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://"))));
}

}  // namespace
}  // namespace lockstep::analyzer
