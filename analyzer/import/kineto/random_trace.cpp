#include "analyzer/import/kineto/random_trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::analyzer::kineto {
namespace {

std::string in_quotes(std::string_view text) {
  return fmt::format("\"{}\"", text);
}

}  // namespace

// Small, so that ranges meet; sometimes with more digits than ns need; sometimes no usable time.
std::string RandomTrace::time() {
  if (chance(3)) {
    static constexpr const char* kStrange[] = {"null",
                                               "\"\"",
                                               "-5",
                                               "1e2",
                                               "12.5e-1",
                                               "\"77\"",
                                               "[1, 2]",
                                               "true",
                                               "{}",
                                               "9300000000000000",
                                               "4611686018427387.9",
                                               "\"x\""};
    return any(kStrange);
  }
  std::string text = std::to_string(below(400));
  if (chance(50)) {
    text += '.';
    for (std::uint64_t digits = 1 + below(6); digits > 0; --digits)
      text += static_cast<char>('0' + (chance(40) ? 5 : below(10)));
  }
  return text;
}

std::string RandomTrace::duration() {
  return chance(3) ? fmt::format("-{}", 1 + below(9)) : time();
}

std::string RandomTrace::space() {
  static constexpr const char* kSpaces[] = {"", "", " ", "\n  ", "\t"};
  return any(kSpaces);
}

std::string RandomTrace::object(std::vector<Field> fields) {
  if (chance(15)) std::shuffle(fields.begin(), fields.end(), random_);
  if (chance(3) && !fields.empty())
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(below(fields.size())));
  std::string text = fmt::format("{{{}", space());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    text += fmt::format("{}{}{}{}:{}{}{}", i == 0 ? "" : ",", i == 0 ? "" : space(),
                        in_quotes(fields[i].first), space(), space(), fields[i].second, space());
  }
  text += '}';
  return text;
}

std::vector<RandomTrace::Field> RandomTrace::collective_arguments() {
  static constexpr const char* kCollectives[] = {"allreduce", "_allgather_base", "_reduce_scatter_base",
                                                 "broadcast", "all_to_all",      "send",
                                                 "recv",      "coalesced",       "barrier",
                                                 "reduce"};
  static constexpr const char* kTypes[] = {"Float", "BFloat16", "Long", "Byte", "Mystery"};
  static constexpr const char* kRanks[] = {"\"[0, 1]\"", "[0, 1]", "\"[3, 1, 0, 2]\"", "\"[0, 1, ...]\"",
                                           "\"\""};
  std::vector<Field> fields{{"Collective name", in_quotes(any(kCollectives))},
                            {"dtype", in_quotes(any(kTypes))}};
  if (chance(90)) fields.emplace_back("In msg nelems", std::to_string(below(5000)));
  if (chance(90)) fields.emplace_back("Out msg nelems", std::to_string(below(5000)));
  if (chance(70)) {
    fields.emplace_back("Process Group Name", in_quotes(chance(50) ? "0" : "tp"));
    fields.emplace_back("Process Group Ranks", any(kRanks));
    if (chance(80)) fields.emplace_back("Group size", chance(50) ? "4" : "2");
  }
  if (chance(50)) fields.emplace_back("Seq", std::to_string(below(50)));
  if (chance(50)) fields.emplace_back("Rank", std::to_string(below(6)));
  if (chance(50)) fields.emplace_back(chance(50) ? "Src Rank" : "Dst Rank", std::to_string(below(4)));
  if (chance(30)) fields.emplace_back("In split size", R"("[]")");
  return fields;
}

std::string RandomTrace::device_event() {
  static constexpr const char* kCategories[] = {"kernel",     "kernel",     "kernel",   "kernel",
                                                "gpu_memcpy", "gpu_memset", "cuda_sync"};
  static constexpr const char* kNames[] = {"gemm",
                                           "void f<a::b<c, {lambda()#1}>, 4>(x}, {)",
                                           R"(quote \" back \\ slash \u00e9)",
                                           "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)",
                                           "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                                           "void mscclpp::collective::allreduceRsAg<__half>(void*)",
                                           "void ncclKernel_Broadcast_RING(x)",
                                           "my_AllReduce_fusion",
                                           "xnccl",
                                           ""};
  std::vector<Field> arguments;
  if (chance(95)) arguments.emplace_back("device", "0");
  if (chance(95)) arguments.emplace_back("stream", chance(70) ? "7" : (chance(50) ? "20" : "\"20\""));
  if (chance(90)) arguments.emplace_back("correlation", std::to_string(below(24)));
  if (chance(50)) arguments.emplace_back("grid", "[1, 2, 3]");
  if (chance(25))
    for (Field& field : collective_arguments()) arguments.push_back(std::move(field));
  return object({{"ph", "\"X\""},
                 {"cat", in_quotes(any(kCategories))},
                 {"name", in_quotes(any(kNames))},
                 {"pid", "0"},
                 {"tid", chance(80) ? "7" : "20"},
                 {"ts", time()},
                 {"dur", duration()},
                 {"args", object(std::move(arguments))}});
}

std::string RandomTrace::launch_event() {
  static constexpr const char* kNames[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                           "cudaMemcpyAsync",  "cudaGraphLaunch",
                                           "cudaEventQuery",   "cudaStreamSynchronize"};
  return object({{"ph", "\"X\""},
                 {"cat", in_quotes(chance(80) ? "cuda_runtime" : "cuda_driver")},
                 {"name", in_quotes(any(kNames))},
                 {"pid", "100"},
                 {"tid", std::to_string(1 + below(2))},
                 {"ts", time()},
                 {"dur", duration()},
                 {"args", object({{"cbid", "211"}, {"correlation", std::to_string(below(24))}})}});
}

std::string RandomTrace::host_event() {
  static constexpr const char* kNames[] = {
      "aten::linear",          "nccl:all_reduce",         "nccl:all_to_all", "nccl:coalesced",
      "nccl:_all_gather_base", "enumerate(DataLoader)#x", "my_data_loader",  "ProfilerStep#3",
      "ProfilerStep#4",        "ProfilerStep#x"};
  static constexpr const char* kCategories[] = {"user_annotation", "user_annotation", "cpu_op",
                                                "python_function", "gpu_user_annotation"};
  return object({{"ph", "\"X\""},
                 {"cat", in_quotes(any(kCategories))},
                 {"name", in_quotes(any(kNames))},
                 {"pid", "100"},
                 {"tid", std::to_string(1 + below(2))},
                 {"ts", time()},
                 {"dur", chance(50) ? duration() : std::to_string(50 + below(100))},
                 {"args", object({{"External id", "7"}, {"shapes", R"([[1, {"a": "}, {"}], []])"}})}});
}

std::string RandomTrace::other_event() {
  static constexpr const char* kOthers[] = {
      R"({"ph": "s", "id": 5, "pid": 100, "tid": 1, "ts": 17, "cat": "ac2g", "name": "ac2g"})",
      R"({"ph": "M", "name": "thread_name", "pid": 100, "tid": 1, "args": {"name": "main, {\"}"}})",
      R"-({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "x", "ts": 1, "dur": 900})-",
      R"({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 5})", R"({})"};
  return any(kOthers);
}

std::string RandomTrace::document() {
  std::vector<std::string> events;
  for (std::uint64_t count = below(60); count > 0; --count) {
    const std::uint64_t kind = below(10);
    events.push_back(kind < 4   ? device_event()
                     : kind < 6 ? launch_event()
                     : kind < 9 ? host_event()
                                : other_event());
  }
  const std::string info =
      R"("distributedInfo": {"rank": 1, "world_size": 4, "pg_config": [{"pg_name": "tp", "ranks": [0, 1, 3]}]})";
  const bool first = chance(50);
  std::string text = fmt::format("{{{}\"traceEvents\":{}[{}", first ? info + "," : "", space(), space());
  for (std::size_t i = 0; i < events.size(); ++i)
    text += fmt::format("{}{}{}", i == 0 ? "" : ",", events[i], space());
  text += fmt::format("]{}}}{}", first ? "" : "," + info, space());
  return text;
}

std::string RandomTrace::damage(std::string text) {
  for (std::uint64_t count = 1 + below(4); count > 0 && !text.empty(); --count) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      case 3: {
        static constexpr const char kSpecial[] = "{}[]\",:\\\x00\xFF\n0-.e";
        text.insert(at, 1, kSpecial[below(sizeof(kSpecial) - 1)]);
        break;
      }
      default:
        if (chance(20)) text.resize(at);
    }
  }
  return text;
}

}  // namespace lockstep::analyzer::kineto
