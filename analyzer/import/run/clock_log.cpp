#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyzer/import/run/run.h"
#include "analyzer/import/run/side_file.h"

namespace lockstep::analyzer::run {
namespace {

constexpr std::int64_t kLatestReading = kLatest;

// Four readings in order, each clock's own two not falling.
bool read_exchange(const nlohmann::json& row, ClockExchange& exchange) {
  if (!row.is_array() || row.size() != 4) return false;
  Nanoseconds* const fields[] = {&exchange.asked, &exchange.heard, &exchange.answered, &exchange.received};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!row[i].is_number_integer()) return false;
    // What does not fit into 63 bits reads as something out of range.
    *fields[i] = row[i].is_number_unsigned() && row[i].get<std::uint64_t>() > INT64_MAX
                     ? INT64_MAX
                     : row[i].get<std::int64_t>();
    if (*fields[i] < -kLatestReading || *fields[i] > kLatestReading) return false;
  }
  return exchange.asked <= exchange.received && exchange.heard <= exchange.answered;
}

}  // namespace

Result<ClockLog> read_clock_log(const std::filesystem::path& path) {
  const nlohmann::json document = parse_side_file(path);
  const auto wrong = [&](const std::string& what) {
    return Error{fmt::format("{}: {}; the hosts' clocks are related without it", path.string(), what)};
  };
  if (!document.is_object()) return wrong(document.is_discarded() ? "damaged or cut" : "no JSON object");
  const auto text = [&](const char* key) {
    const auto found = document.find(key);
    return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (text("format") != "lockstep.clock/1")
    return wrong(fmt::format("its format is '{}', not lockstep.clock/1", text("format")));
  ClockLog log{text("clock"), text("peer"), {}};
  const auto rows = document.find("exchanges");
  if (log.clock.empty() || log.peer.empty() || rows == document.end() || !rows->is_array())
    return wrong("it lacks clock, peer or exchanges");
  for (const nlohmann::json& row : *rows) {
    ClockExchange exchange;
    if (!read_exchange(row, exchange))
      return wrong(fmt::format("exchange {} is not four readings in order", log.exchanges.size()));
    log.exchanges.push_back(exchange);
  }
  return log;
}

}  // namespace lockstep::analyzer::run
