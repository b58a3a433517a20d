#include "tests/end_to_end/report_sums.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lockstep::end_to_end {
namespace {

using nlohmann::json;

class Checker {
 public:
  std::vector<std::string> run(const json& document) && {
    measures("window", document.at("ranks"));
    if (!document.contains("steps")) return std::move(broken_);  // a range
    for (const json& step : document.at("steps")) {
      const std::string where = of_rank("step " + step.at("step").dump(), step);
      measures_of(where, step);
      equal(where, "its length", ns(step, "end_ns") - ns(step, "begin_ns"), ns(step, "window_ns"));
    }
    if (!document.at("steady").is_null()) measures("steady training", document.at("steady").at("ranks"));
    if (!document.at("account").is_null()) account(document.at("account"));
    for (const json& operation : document.at("collectives")) waits(operation);
    for (const json& finding : document.at("findings")) loss(finding);
    return std::move(broken_);
  }

 private:
  static std::int64_t ns(const json& object, const char* key) { return object.at(key).get<std::int64_t>(); }

  static std::string of_rank(const std::string& what, const json& object) {
    return what + " of rank " + object.at("rank").dump();
  }

  void equal(const std::string& where, const char* what, std::int64_t one, std::int64_t other) {
    if (one != other)
      broken_.push_back(where + ": " + what + " " + std::to_string(one) + " is not " + std::to_string(other));
  }
  void not_negative(const std::string& where, const std::string& what, std::int64_t value) {
    if (value < 0) broken_.push_back(where + ": " + what + " is " + std::to_string(value));
  }
  // An object of nothing but times.
  std::int64_t sum_of(const std::string& where, const json& parts) {
    std::int64_t sum = 0;
    for (const auto& [name, part] : parts.items()) {
      not_negative(where, name, part.get<std::int64_t>());
      sum += part.get<std::int64_t>();
    }
    return sum;
  }

  void measures(const std::string& what, const json& ranks) {
    for (const json& rank : ranks) measures_of(of_rank(what, rank), rank);
  }
  void measures_of(const std::string& where, const json& measures) {
    const json& partition = measures.at("partition");
    if (!partition.is_null())  // known
      equal(where, "sum of causes", sum_of(where, partition), ns(measures, "window_ns"));
  }

  void account(const json& account) {
    std::map<std::string, std::int64_t> sums;
    for (const json& rank : account.at("ranks")) {
      const std::string where = of_rank("account", rank);
      const json& spent = rank.at("spent_ns");
      equal(where, "all that it spent", sum_of(where, spent), ns(account, "wall_ns"));
      for (const auto& [name, part] : spent.items()) sums[name] += part.get<std::int64_t>();
      not_negative(where, "checkpoint_beside_ns", ns(rank, "checkpoint_beside_ns"));
    }
    for (const auto& [name, sum] : sums)
      equal("account", name.c_str(), ns(account.at("spent_ns"), name.c_str()), sum);
  }

  void waits(const json& operation) {
    for (const json& rank : operation.at("ranks")) {
      const std::string where = of_rank("operation " + operation.at("id").dump(), rank);
      not_negative(where, "transfer_ns", ns(rank, "transfer_ns"));
      if (rank.at("wait_ns").is_null()) continue;
      not_negative(where, "wait_ns", ns(rank, "wait_ns"));
      equal(where, "wait and transfer", ns(rank, "wait_ns") + ns(rank, "transfer_ns"),
            ns(rank, "end_ns") - ns(rank, "arrival_ns"));
    }
  }

  void loss(const json& finding) {
    const std::string code = finding.at("code").get<std::string>();
    not_negative(code, "lost_ns", ns(finding, "lost_ns"));
    const json& share = finding.at("lost_share");
    if (!share.is_null() && !(share.get<double>() >= 0 && share.get<double>() <= 1))
      broken_.push_back(code + ": share " + share.dump());
  }

  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_sums(const json& document) {
  return Checker().run(document);
}

void require_exact_sums(const std::string& text) {
  if (!text.starts_with(R"({"schema": "lockstep.report/)") &&
      !text.starts_with(R"({"schema": "lockstep.range/)"))
    return;
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return;  // cut on its way: for the test to judge
  std::string broken;
  for (const std::string& line : broken_sums(document)) broken += "\n" + line;
  if (!broken.empty()) throw std::runtime_error("the report's sums do not hold:" + broken);
}

}  // namespace lockstep::end_to_end
