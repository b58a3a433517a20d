// Profiles of the CPU alone, and what the profiler says of its own cost.
#include "analyzer/import/kineto/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/import/kineto/kineto_text.h"

namespace lockstep::analyzer::kineto {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using trace::LaneKind;
using trace::Operation;

std::string op(std::string_view name, std::string_view ts, std::string_view dur, int tid = 1) {
  return annotation(name, ts, dur, tid, "cpu_op");
}

TEST(Operators, OfTheCpuAreItsCompute) {
  const RankImport import = import_text(document(
      {annotation("ProfilerStep#1", "90", "500"), op("aten::linear", "100", "50"),
       op("aten::addmm", "110", "30"), op("aten::relu", "160", "10"),
       // Backward, on another thread: nodes surround operators.
       op("autograd::engine::evaluate_function: AddmmBackward0", "200", "60", 2),
       op("AddmmBackward0", "201", "50", 2), op("aten::mm", "205", "20", 2), op("aten::t", "230", "2", 2),
       op("mylib::norm", "240", "5", 2), op("c10d::allreduce_", "250", "3", 2),
       // In flight at once, both written down under whichever thread ended them.
       annotation("gloo:all_reduce", "252", "100", 3), annotation("gloo:send 0->1", "260", "10", 3),
       annotation("gloo:all_reduce", "360", "10", 4)}));
  const RankTrace& trace = import.trace;
  std::vector<std::string> computed;
  for (const Activity& activity : trace.activities) {
    if (activity.activity_class == Class::compute) computed.emplace_back(import.strings.view(activity.name));
    EXPECT_EQ(activity.launch_begin, activity.begin);
    EXPECT_EQ(activity.step, 0u);
  }
  EXPECT_THAT(computed,
              testing::ElementsAre("aten::linear", "aten::relu", "aten::mm", "aten::t", "mylib::norm"));
  EXPECT_EQ(trace.device, "cpu");
  ASSERT_THAT(trace.communications, SizeIs(3));
  const Activity& first = trace.activities[trace.communications[0].activity];
  const Activity& second = trace.activities[trace.communications[1].activity];
  const Activity& third = trace.activities[trace.communications[2].activity];
  EXPECT_EQ(first.begin, 252'000);
  EXPECT_EQ(first.end, 352'000);
  EXPECT_EQ(trace.communications[0].operation, Operation::all_reduce);
  EXPECT_EQ(second.activity_class, Class::p2p);
  EXPECT_NE(first.lane, second.lane);
  EXPECT_EQ(first.lane, third.lane);
  EXPECT_EQ(trace.lanes[first.lane].kind, LaneKind::communication);
  EXPECT_EQ(trace.lanes[trace.activities.front().lane].kind, LaneKind::compute_thread);
}

struct Communicates {
  std::string name;
  Nanoseconds begin, end;
  Operation operation;
  bool operator==(const Communicates&) const = default;
};
std::vector<Communicates> communication_of(const RankImport& import) {
  std::vector<Communicates> all;
  for (const Communication& communication : import.trace.communications) {
    const Activity& activity = import.trace.activities[communication.activity];
    EXPECT_EQ(import.trace.lanes[activity.lane].kind, LaneKind::communication);
    all.push_back({std::string(import.strings.view(activity.name)), activity.begin, activity.end,
                   communication.operation});
  }
  return all;
}
std::vector<std::string> computed_by(const RankImport& import) {
  std::vector<std::string> names;
  for (const Activity& activity : import.trace.activities)
    if (activity.activity_class == Class::compute) names.emplace_back(import.strings.view(activity.name));
  return names;
}

// One table says which operators communicate: what they compute for it, and their own parts, are part of it.
TEST(Operators, OfCommunicationAreNoCompute) {
  const RankImport import = import_text(
      document({op("aten::mm", "10", "50"), op("oneccl_bindings_for_pytorch::allreduce", "100", "80"),
                op("aten::add_", "110", "5"), op("torch_ccl::cpu::allreduce", "120", "50"),
                op("aten::relu", "190", "5"), op("vllm::all_gather", "200", "40"),
                op("vllm::unified_attention", "250", "10")}));
  EXPECT_THAT(
      communication_of(import),
      testing::ElementsAre(
          Communicates{"oneccl_bindings_for_pytorch::allreduce", 100'000, 180'000, Operation::all_reduce},
          Communicates{"vllm::all_gather", 200'000, 240'000, Operation::all_gather}));
  EXPECT_THAT(computed_by(import), testing::ElementsAre("aten::mm", "aten::relu", "vllm::unified_attention"));
}

// Up to PyTorch 1.11 ranges are operators, too.
TEST(Operators, RangesOfCommunicationCountWhateverTheirCategory) {
  for (const char* category : {"user_annotation", "cpu_op", "Operator"}) {
    const RankImport import = import_text(
        document({op("aten::mm", "10", "50"), annotation("gloo:all_reduce", "70", "30", 1, category)}));
    EXPECT_THAT(communication_of(import),
                testing::ElementsAre(Communicates{"gloo:all_reduce", 70'000, 100'000, Operation::all_reduce}))
        << category;
  }
}

// Not twice: the operator surrounds what it hands over.
TEST(Operators, ThatOnlyIssueAreNoCommunicationOfTheirOwn) {
  const RankImport import = import_text(
      document({op("vllm::all_reduce", "100", "80"), op("aten::copy_", "101", "5"),
                op("c10d::allreduce_", "110", "10"), op("c10d_functional::all_reduce", "300", "9"),
                annotation("gloo:all_reduce", "112", "60", 3)}));
  EXPECT_THAT(communication_of(import),
              testing::ElementsAre(Communicates{"gloo:all_reduce", 112'000, 172'000, Operation::all_reduce}));
  EXPECT_THAT(computed_by(import), testing::ElementsAre("aten::copy_"));
}

TEST(Operators, AnnotationsCommunicateWhereTheUserSaysSo) {
  const auto patterns = CommunicationPatterns::parse({"my_all_?reduce=all_reduce"});
  ASSERT_TRUE(patterns.ok());
  Options options;
  options.communication = patterns.value().get();
  const std::string text = document(
      {op("aten::mm", "10", "50"), annotation("my_allreduce", "100", "80"), op("aten::add_", "110", "5"),
       annotation("other", "200", "10"), annotation("mylib::my_all_reduce", "220", "10"),
       annotation("my_allreduce.py(3): run", "300", "10", 1, "python_function")});
  EXPECT_THAT(
      communication_of(import_text(text, options)),
      testing::ElementsAre(Communicates{"my_allreduce", 100'000, 180'000, Operation::all_reduce},
                           Communicates{"mylib::my_all_reduce", 220'000, 230'000, Operation::all_reduce}));
  EXPECT_THAT(computed_by(import_text(text, options)), testing::ElementsAre("aten::mm"));
  EXPECT_THAT(communication_of(import_text(text)), IsEmpty());
}

// Where a device computes, the CPU's operators are host time.
TEST(Operators, AreNothingBesideKernels) {
  const RankImport import =
      import_text(document({op("aten::linear", "100", "50"), kernel("gemm", "120", "10", 1),
                            annotation("gloo:all_reduce", "252", "100", 3)}));
  EXPECT_THAT(import.trace.activities, SizeIs(1));
  EXPECT_THAT(import.trace.communications, IsEmpty());
  EXPECT_EQ(import.trace.device, "cuda:0");
}

struct NamedModule {
  std::string name;
  Nanoseconds begin, end;
  bool operator==(const NamedModule&) const = default;
};
std::vector<NamedModule> modules_of(const RankImport& import) {
  std::vector<NamedModule> modules;
  for (const HostRange& range : import.trace.host_ranges)
    if (range.kind == HostKind::module)
      modules.push_back({std::string(import.strings.view(range.name)), range.begin, range.end});
  return modules;
}

// The profiler numbers modules by class; their place is who called them. They are kept whatever their length.
TEST(Operators, ModulesAreNamedByTheirPlace) {
  const auto module = [](std::string_view name, std::string_view ts, std::string_view dur) {
    return annotation(name, ts, dur, 1, "python_function");
  };
  const RankImport import = import_text(
      document({module("nn.Module: GPT_0", "100", "50"), module("model.py(3): forward", "101", "48"),
                module("nn.Module: Block_0", "105", "20"), op("aten::linear", "110", "4"),
                module("nn.Module: Linear_7", "116", "4"), module("nn.Module: Block_1", "130", "10"),
                module("nn.Module: ", "141", "1"), module("nn.Module: Loss_0", "160", "5")}));
  EXPECT_THAT(modules_of(import),
              testing::ElementsAre(
                  NamedModule{"GPT_0", 100'000, 150'000}, NamedModule{"GPT_0.Block_0", 105'000, 125'000},
                  NamedModule{"GPT_0.Block_0.Linear_7", 116'000, 120'000},
                  NamedModule{"GPT_0.Block_1", 130'000, 140'000}, NamedModule{"Loss_0", 160'000, 165'000}));
}

TEST(Operators, ModulesOfAGpuAreKeptToo) {
  const RankImport import =
      import_text(document({annotation("nn.Module: GPT_0", "100", "50", 1, "python_function"),
                            op("aten::linear", "110", "4"), kernel("gemm", "120", "10", 1)}));
  EXPECT_THAT(modules_of(import), testing::ElementsAre(NamedModule{"GPT_0", 100'000, 150'000}));
}

TEST(Operators, ComputeByTheirNames) {
  for (const char* name : {"aten::mm", "mylib::op", "torchvision::nms", "mkldnn::_linear_pointwise"})
    EXPECT_TRUE(computes(name)) << name;
  for (const char* name :
       {"", "::", "AddmmBackward0", "autograd::engine::evaluate_function: X",
        "torch::autograd::AccumulateGrad", "c10d::allreduce_", "_c10d_functional::wait_tensor",
        "c10d_functional::all_reduce", "torch_ccl::allreduce", "symm_mem::one_shot_all_reduce"})
    EXPECT_FALSE(computes(name)) << name;
}

std::string overhead_of(const RankImport& import) {
  for (const Warning& warning : import.warnings)
    if (warning.code == "profiler_overhead") return warning.message;
  return "";
}

// Also where nothing costly was asked for: then nobody is warned.
TEST(ProfilerCost, IsKeptOfTheRank) {
  const RankImport import = import_text(
      document({kernel("k", "100", "5", 1), event("overhead", "Activity Buffer Request", "5", "1500", -1, ""),
                event("overhead", "Instrumentation", "2000", "2.5", -1, "")}));
  EXPECT_EQ(import.trace.profiler_ns, 1'502'500);
  EXPECT_THAT(overhead_of(import), IsEmpty());
  EXPECT_EQ(import_text(document({kernel("k", "100", "5", 1)})).trace.profiler_ns, 0);
}

TEST(ProfilerCost, IsSaidWhereStacksOrShapesWereRecorded) {
  const std::string rank = R"("distributedInfo": {"rank": 3, "world_size": 8})";
  const std::string with_all = overhead_of(import_text(
      document({kernel("k", "100", "5", 1), annotation("train.py(3): step", "1", "2", 1, "python_function"),
                annotation("train.py(4): loss", "4", "2", 1, "python_function"),
                event("overhead", "Activity Buffer Request", "5", "1500", -1, "")},
               rank + R"(, "with_stack": 1, "record_shapes": 1, "profile_memory": 0)")));
  EXPECT_THAT(with_all, AllOf(HasSubstr("record_shapes, with_stack"), HasSubstr("2 Python calls"),
                              HasSubstr("1.500 ms"), Not(HasSubstr("profile_memory"))));
  EXPECT_THAT(
      overhead_of(import_text(document({kernel("k", "100", "5", 1)}, rank + R"(, "profile_memory": 1)"))),
      AllOf(HasSubstr("recorded with profile_memory: "), HasSubstr("Record without these")));
  // Older files do not say what they were asked for.
  EXPECT_THAT(overhead_of(import_text(document(
                  {annotation("a.py(3): f", "1", "2", 1, "python_function"), kernel("k", "100", "5", 1)}))),
              HasSubstr("with_stack"));
  EXPECT_THAT(overhead_of(import_text(document({kernel("k", "100", "5", 1)}))), IsEmpty());
}

}  // namespace
}  // namespace lockstep::analyzer::kineto
