#include "analyzer/import/kineto/oracle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <tuple>
#include <utility>

namespace lockstep::analyzer::kineto {
namespace {

using nlohmann::json;

// nlohmann turns decimals into doubles; this keeps their text, behind a mark, as strings.
struct TextKeeper : nlohmann::detail::json_sax_dom_parser<json> {
  using nlohmann::detail::json_sax_dom_parser<json>::json_sax_dom_parser;
  bool number_float(double, const std::string& text) {
    std::string marked = "#" + text;
    return string(marked);
  }
};

std::string text_of(const json& value) {
  if (value.is_string())
    return value.get<std::string>().starts_with("#") ? value.get<std::string>().substr(1)
                                                     : value.get<std::string>();
  return value.is_number() ? value.dump() : "?";
}

// ns, as nearest integer, ties to even.
std::optional<__int128> exact_ns(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  static const std::regex kNumber(R"((-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?)");
  std::smatch match;
  const std::string text = text_of(*found);
  if (!std::regex_match(text, match, kNumber)) return std::nullopt;
  __int128 numerator = 0, denominator = 1;
  for (const char c : match.str(2) + match.str(3)) numerator = numerator * 10 + (c - '0');
  int exponent =
      3 - static_cast<int>(match.str(3).size()) + (match.str(4).empty() ? 0 : std::stoi(match.str(4)));
  for (; exponent > 0; --exponent) numerator *= 10;
  for (; exponent < 0; ++exponent) denominator *= 10;
  __int128 value = numerator / denominator;
  const __int128 rest = 2 * (numerator % denominator);
  if (rest > denominator || (rest == denominator && value % 2 != 0)) ++value;
  return match.str(1).empty() ? value : -value;
}

std::string argument(const json& event, const char* key) {
  const auto arguments = event.find("args");
  if (arguments == event.end() || !arguments->is_object() || !arguments->contains(key)) return "";
  const json& value = (*arguments)[key];
  return value.is_array() ? value.dump() : text_of(value);
}
std::string field(const json& event, const char* key) {
  return event.contains(key) ? text_of(event[key]) : "";
}

struct Interval {
  std::int64_t begin = 0, end = 0;
};

// Operations as the words that trace::to_string gives them.
std::string operation_of(const std::string& name) {
  static const std::pair<const char*, const char*> kKnown[] = {
      {"allreduce", "all_reduce"},
      {"_allgather_base", "all_gather"},
      {"_reduce_scatter_base", "reduce_scatter"},
      {"broadcast", "broadcast"},
      {"all_to_all", "all_to_all"},
      {"send", "send"},
      {"recv", "recv"},
      {"barrier", "barrier"},
      {"reduce", "reduce"},
      {"nccl:all_reduce", "all_reduce"},
      {"nccl:all_to_all", "all_to_all"},
      {"nccl:_all_gather_base", "all_gather"},
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", "all_reduce"},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "send_recv"},
      {"void mscclpp::collective::allreduceRsAg<__half>(void*)", "all_reduce"},
      {"void ncclKernel_Broadcast_RING(x)", "broadcast"}};
  for (const auto& [text, operation] : kKnown)
    if (name == text) return operation;
  return "unknown";
}

std::int64_t size_of(const std::string& dtype) {
  return dtype == "Float" ? 4 : dtype == "BFloat16" ? 2 : dtype == "Long" ? 8 : dtype == "Byte" ? 1 : 0;
}

class Oracle {
 public:
  explicit Oracle(const std::string& text) {
    TextKeeper keeper(document_, true);
    json::sax_parse(text, &keeper);
  }

  OracleResult run() {
    for (const json& event : document_["traceEvents"]) {
      if (field(event, "ph") != "X") continue;
      const auto begin = exact_ns(event, "ts"), duration = exact_ns(event, "dur");
      constexpr __int128 kLatest = (__int128{1} << 62) - 1;
      if (!begin || *begin > kLatest || *begin < -kLatest || !duration || *duration < 0 ||
          *begin + *duration > kLatest) {
        ++result_.dropped;
        continue;
      }
      if (*begin % 1000 != 0 || *duration % 1000 != 0) result_.resolution_ns = 1;
      events_.emplace_back(
          &event, Interval{static_cast<std::int64_t>(*begin), static_cast<std::int64_t>(*begin + *duration)});
    }
    steps();
    for (const auto& [event, interval] : events_) {
      const std::string category = field(*event, "cat");
      if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" ||
          category == "cuda_sync")
        activity(*event, interval, category);
    }
    std::sort(result_.activities.begin(), result_.activities.end());
    std::sort(result_.data_loading.begin(), result_.data_loading.end());
    return std::move(result_);
  }

 private:
  static bool is_host(const std::string& category) {
    return category == "cpu_op" || category == "user_annotation" || category == "python_function";
  }

  void steps() {
    for (const auto& [event, interval] : events_) {
      const std::string name = field(*event, "name");
      if (!is_host(field(*event, "cat"))) continue;
      if (name == "ProfilerStep#3" || name == "ProfilerStep#4")
        steps_.emplace_back(name.back() - '0', interval);
      if (name == "enumerate(DataLoader)#x" || name == "my_data_loader")
        result_.data_loading.push_back(fmt::format("{} {}", interval.begin, interval.end));
    }
    std::stable_sort(steps_.begin(), steps_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second.begin, b.second.end) < std::tie(b.second.begin, a.second.end);
    });
    std::vector<std::pair<int, Interval>> kept;
    for (const auto& step : steps_)
      if (kept.empty() || step.second.begin >= kept.back().second.end) kept.push_back(step);
    steps_ = kept;
    for (const auto& [number, interval] : steps_)
      result_.steps.push_back(fmt::format("{} {} {}", number, interval.begin, interval.end));
  }

  struct Call {
    Interval interval;
    std::string thread;
  };
  std::optional<Call> launch_of(const std::string& correlation) const {
    std::optional<Call> best;
    for (const auto& [event, interval] : events_) {
      const std::string category = field(*event, "cat"), name = field(*event, "name");
      if ((category != "cuda_runtime" && category != "cuda_driver") ||
          argument(*event, "correlation") != correlation)
        continue;
      if (name != "cudaLaunchKernel" && name != "cudaLaunchKernelExC" && name != "cudaMemcpyAsync" &&
          name != "cudaGraphLaunch")
        continue;
      if (best &&
          std::pair(best->interval.begin, -best->interval.end) <= std::pair(interval.begin, -interval.end))
        continue;
      best = Call{interval, field(*event, "pid") + "/" + field(*event, "tid")};
    }
    return best;
  }

  std::string operation_around(const Call& call) const {
    std::optional<Interval> best;
    std::string operation = "unknown";
    for (const auto& [event, interval] : events_) {
      const std::string named = operation_of(field(*event, "name"));
      if (!is_host(field(*event, "cat")) || !field(*event, "name").starts_with("nccl:") || named == "unknown")
        continue;
      if (field(*event, "pid") + "/" + field(*event, "tid") != call.thread) continue;
      if (interval.begin > call.interval.begin || interval.end < call.interval.begin) continue;
      // Innermost: begun last; of those, ended first; of those, the last in the file.
      if (best && std::pair(interval.begin, -interval.end) < std::pair(best->begin, -best->end)) continue;
      best = interval;
      operation = named;
    }
    return operation;
  }

  // "name:ranks" of the group, and the global rank of a group rank.
  std::string group_of(const json& event, std::vector<int>& order) const {
    const std::string name = argument(event, "Process Group Name"),
                      list = argument(event, "Process Group Ranks");
    if (name.empty() && list.empty()) return "none";
    const bool cut = list.find("...") != std::string::npos;
    static const std::regex kDigits("[0-9]+");
    for (std::sregex_iterator at(list.begin(), list.end(), kDigits), end; !cut && at != end; ++at)
      order.push_back(std::stoi(at->str()));
    if (order.empty() && name == "tp" && document_.contains("distributedInfo")) order = {0, 1, 3};
    if (order.empty() && argument(event, "Group size") == "4") order = {0, 1, 2, 3};
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    return fmt::format("{}:{}", name, fmt::join(sorted, ","));
  }

  std::string communication(const json& event, const std::string& name_operation,
                            const std::optional<Call>& call, bool& p2p) const {
    std::string operation = name_operation, group = "none", sequence = "-1", bytes = "-1", peer = "-1";
    const std::string named = operation_of(argument(event, "Collective name"));
    const bool metadata = named != "unknown";
    std::vector<int> order;
    if (!argument(event, "Collective name").empty()) group = group_of(event, order);
    if (metadata) {
      operation = named;
      if (!argument(event, "Seq").empty()) sequence = argument(event, "Seq");
      const std::string in = argument(event, "In msg nelems"), out = argument(event, "Out msg nelems");
      const std::int64_t elements =
          std::max(in.empty() ? -1 : std::stoll(in), out.empty() ? -1 : std::stoll(out));
      const std::int64_t size = size_of(argument(event, "dtype"));
      if (elements >= 0 && size > 0) bytes = std::to_string(elements * size);
      const std::string source = argument(event, "Src Rank"), destination = argument(event, "Dst Rank"),
                        rank = argument(event, "Rank");
      if (operation == "send" && !destination.empty()) peer = destination;
      if (operation == "recv" && !source.empty()) peer = source;
      if ((operation == "broadcast" || operation == "reduce") && !rank.empty()) {
        const auto index = static_cast<std::size_t>(std::stoi(rank));
        if (group == "none")
          peer = rank;
        else if (index < order.size())
          peer = std::to_string(order[index]);
      }
    } else if (call) {
      const std::string around = operation_around(*call);
      if (around != "unknown") operation = around;
    }
    p2p = operation == "send" || operation == "recv" || operation == "send_recv";
    return fmt::format("{} {} {} {} {} {}", operation, metadata, group, sequence, bytes, peer);
  }

  void activity(const json& event, const Interval& interval, const std::string& category) {
    const std::string name = field(event, "name");
    static const std::regex kCommunication(R"(^(void )?((nccl|rccl|msccl)\w*Kernel|mscclpp::))");
    static const std::regex kLooksLike(
        "nccl|rccl|msccl|all_?reduce|all_?gather|reduce_?scatter|alltoall|all_to_all", std::regex::icase);
    const bool kernel = category == "kernel";
    const bool communicates =
        category != "cuda_sync" &&
        (!argument(event, "Collective name").empty() || (kernel && std::regex_search(name, kCommunication)));
    const std::string correlation = argument(event, "correlation");
    const std::optional<Call> call = correlation.empty() ? std::nullopt : launch_of(correlation);
    std::string activity_class = kernel ? "compute" : category == "cuda_sync" ? "sync" : "copy";
    std::string details;
    if (communicates) {
      bool p2p = false;
      details = communication(event, std::regex_search(name, kCommunication) ? operation_of(name) : "unknown",
                              call, p2p);
      activity_class = p2p ? "p2p" : "collective";
    } else if (kernel && std::regex_search(name, kLooksLike)) {
      activity_class = "unclassified";
    }
    std::string launch = "none", step = "none";
    if (call) {
      launch = fmt::format("{}-{}", call->interval.begin, call->interval.end);
      for (const auto& [number, window] : steps_)
        if (window.begin <= call->interval.end)
          step = call->interval.end <= window.end ? std::to_string(number) : "none";
    }
    std::string stream = argument(event, "stream");
    if (stream.empty()) stream = field(event, "tid");
    result_.activities.push_back(fmt::format("{} {} {} {} {} {} {} | {}", interval.begin, interval.end, name,
                                             stream.empty() ? "-1" : stream, activity_class, launch, step,
                                             details));
  }

  json document_;
  std::vector<std::pair<const json*, Interval>> events_;
  std::vector<std::pair<int, Interval>> steps_;
  OracleResult result_;
};

}  // namespace

OracleResult oracle_import(const std::string& text) {
  return Oracle(text).run();
}

}  // namespace lockstep::analyzer::kineto
