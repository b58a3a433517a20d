// The words themselves: reports, exports and documents of earlier versions have these.
#include "analyzer/report/measure_words.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using Code = PipelineReason::Code;

TEST(ReasonText, OfARatioThatIsNotKnown) {
  EXPECT_EQ(reason_text({}), "");
  EXPECT_EQ(reason_text({.code = Code::ranks_missing, .count = 1, .of = 3}),
            "1 of its 3 ranks left no trace");
  EXPECT_EQ(reason_text({.code = Code::activities_lost}),
            "a part of a rank's file that held activities is damaged");
}

TEST(ReasonText, OfAScheduleThatIsNotKnown) {
  EXPECT_EQ(
      reason_text({.code = Code::passes_unknown}),
      "its schedule is unknown: not every rank says which of its computations are forward and backward passes");
  EXPECT_EQ(reason_text({.code = Code::microbatches_unnumbered}),
            "its schedule is unknown: its microbatches are not numbered");
  EXPECT_EQ(reason_text({Code::chunks_differ, 1, 1, 2}),
            "its schedule is unknown: stage 1 has 1 separate blocks of layers, another one 2");
  EXPECT_EQ(
      reason_text({.code = Code::backward_split}),
      "its schedule is unknown: the gradients of its weights are computed apart from those of its inputs (zero bubble)");
  EXPECT_EQ(
      reason_text({Code::passes_missing, 3, 8}),
      "its schedule is unknown: of stage 3 the trace does not show each of 8 microbatches once forward and once backward");
  EXPECT_EQ(reason_text({.code = Code::order_not_interleaved}),
            "its schedule is unknown: the order of its passes is not that of interleaved 1F1B");
  EXPECT_EQ(reason_text({.code = Code::order_unrecognised}),
            "its schedule is unknown: the order of its passes is neither GPipe's nor 1F1B's");
}

TEST(LayerName, OfALayerAndOfAnotherPart) {
  LayerReport layer;
  EXPECT_EQ(layer_name(layer), "");
  layer.part = "embedding";
  EXPECT_EQ(layer_name(layer), "embedding");
  layer = {};
  layer.layer = 0;
  EXPECT_EQ(layer_name(layer), "layer 0");
}

TEST(TheoryWords, NameEachQuantityItsUnitAndWhatItIsOf) {
  const TheoryReport state{TheoryQuantity::optimizer_state, 3, std::nullopt, 1, PartOfModel{}};
  EXPECT_STREQ(quantity_name(state.quantity), "optimizer state");
  EXPECT_STREQ(unit_of(state.quantity), "bytes");
  EXPECT_EQ(scope_text(state), "rank 3");
  EXPECT_STREQ(quantity_name(TheoryQuantity::parameters), "parameters");
  EXPECT_STREQ(quantity_name(TheoryQuantity::gradients), "gradients");
  const TheoryReport sent{TheoryQuantity::sent_by_collectives, {}, std::nullopt, 1, SentByAllReduce{}};
  EXPECT_STREQ(quantity_name(sent.quantity), "sent by collectives");
  EXPECT_STREQ(unit_of(sent.quantity), "bytes");
  EXPECT_EQ(scope_text(sent), "a step and rank");
  const TheoryReport batch{TheoryQuantity::effective_batch, {}, std::nullopt, 1, SamplesOfStep{}};
  EXPECT_STREQ(quantity_name(batch.quantity), "effective batch");
  EXPECT_STREQ(unit_of(batch.quantity), "samples");
  EXPECT_EQ(scope_text(batch), "a step");
}

TEST(TheoryWords, WriteFormulas) {
  EXPECT_EQ(formula_text(PartOfModel{1, 1}), "Ψ");
  EXPECT_EQ(formula_text(PartOfModel{1, 4}), "Ψ/4");
  EXPECT_EQ(formula_text(PartOfModel{4, 1}), "4Ψ");
  EXPECT_EQ(formula_text(PartOfModel{12, 8}), "12Ψ/8");
  EXPECT_EQ(formula_text(SentByAllReduce{4}), "2(n−1)/n × 4Ψ");
  EXPECT_EQ(formula_text(SentWhereShared{2, 4, std::nullopt}), "(n−1)/n × (2Ψ reduced + 4Ψ gathered)");
  EXPECT_EQ(formula_text(SentWhereShared{2, 4, 8}),
            "(s−1)/s × (2Ψ reduced + 4Ψ gathered) + 2(n−s)/n × 2Ψ/s, s = 8");
  EXPECT_EQ(formula_text(SamplesOfStep{3, 2, 3}), "B × n × accumulation = 3 × 2 × 3");
}

}  // namespace
}  // namespace lockstep::analyzer
