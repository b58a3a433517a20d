#include "analyzer/import/nsys/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <vector>

#include "base/counts.h"

namespace lockstep::analyzer::nsys {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kExportAgain = "export the report again (`nsys export --type sqlite`)";

struct Need {
  const char* table;
  std::vector<std::string> columns;
  const char* without;         // what is not known where they are missing
  bool is_always_there;        // nsys leaves tables out that have no rows: most of them may be absent
  bool is_nothing_without_it;  // the rest of the table can't be understood
};

const std::vector<Need>& needs() {
  static const std::vector<Need> all{
      {kKernels, {"start", "end", "deviceId"}, "its kernels are left out", false, true},
      {kKernels, {"streamId"}, "the streams of a device can't be told apart", false, false},
      {kKernels,
       {"globalPid"},
       "the processes on a device can't be told apart, and kernels not be joined with their launches",
       false,
       false},
      {kKernels,
       {"correlationId"},
       "kernels can't be joined with their launches: host-bound and queued idle time, steps of kernels and "
       "operations that NVTX ranges name are not known",
       false,
       false},
      {"CUPTI_ACTIVITY_KIND_RUNTIME",
       {"start", "end", "globalTid", "correlationId", "nameId"},
       "launches are not known: host-bound and queued idle time, steps of kernels and operations that NVTX "
       "ranges name neither",
       true,
       true},
      {"NVTX_EVENTS",
       {"start", "end", "eventType", "globalTid"},
       "steps are not known, and collectives go by their kernels' names (an all-to-all is a SendRecv then)",
       true,
       true},
      {"CUPTI_ACTIVITY_KIND_MEMCPY", {"start", "end", "deviceId"}, "copies are left out", false, true},
      {"CUPTI_ACTIVITY_KIND_MEMSET", {"start", "end", "deviceId"}, "memory sets are left out", false, true},
      {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
       {"start", "end", "deviceId"},
       "CUDA graphs are left out",
       false,
       true},
      {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
       {"start", "end", "deviceId"},
       "waits are left out",
       false,
       true},
  };
  return all;
}

// "is missing", "is empty", "lacks the column correlationId"; empty if nothing is wrong.
std::string fault(Database& database, const std::string& table, const std::vector<std::string>& columns,
                  bool is_always_there) {
  if (!database.has(table)) return is_always_there ? "is missing" : "";
  std::vector<std::string> missing;
  Rows rows(database, table, columns);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!rows.has_column(i)) missing.push_back(columns[i]);
  if (!missing.empty())
    return fmt::format("lacks the {} {}", missing.size() == 1 ? "column" : "columns",
                       fmt::join(missing, ", "));
  if (is_always_there && !rows.next() && rows.problem().empty()) return "is empty";
  return "";
}

}  // namespace

void check_schema(Database& database, Report& report) {
  const bool processes_are_known =
      database.has(kKernels) && fault(database, kKernels, {"globalPid"}, true).empty();
  for (const Need& need : needs()) {
    const std::string found = fault(database, need.table, need.columns, need.is_always_there);
    if (found.empty()) continue;
    report.lacks.push_back(fmt::format("table {} {}: {}", need.table, found, need.without));
    if (need.is_nothing_without_it) database.forget(need.table);
  }
  if (!processes_are_known) return;
  for (const char* table :
       {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}) {
    const std::string found = fault(database, table, {"globalPid"}, false);
    if (!found.empty())
      report.lacks.push_back(
          fmt::format("table {} {}: what it holds is of no known process, and left out", table, found));
  }
}

void check_ranges(Database& database, Report& report) {
  if (report.nameless_ranges == 0) return;
  // Ranges without a name are nothing strange where both columns are there.
  for (const char* column : {"text", "textId"}) {
    const std::string found = fault(database, "NVTX_EVENTS", {column}, true);
    if (!found.empty())
      report.lacks.push_back(fmt::format(
          "table NVTX_EVENTS {}: {} without a name: steps and operations that they told are not known", found,
          format_plural(report.nameless_ranges, "range is", "ranges are")));
  }
}

Status check_kernels(Database& database, const Report& report) {
  std::size_t kernels = 0, nameless = 0;
  for (const auto& [key, device] : report.devices) {
    kernels += device.kernels;
    nameless += device.nameless;
  }
  const auto error = [&](const std::string& what) { return Error{fmt::format("{}: {}", report.file, what)}; };
  if (kernels == 0) {
    std::string why = report.damage.empty() ? "" : report.damage.front();
    for (const std::string& lack : report.lacks)
      if (why.empty() && lack.find(kKernels) != std::string::npos) why = lack;
    if (why.empty() && report.devices.empty())
      return error("the report holds no GPU activity: record it with `nsys profile --trace=cuda,nvtx`");
    if (why.empty())
      why = fmt::format("table {} {}", kKernels, database.has(kKernels) ? "is empty" : "is missing");
    return error(
        fmt::format("no kernels could be read ({}), so that neither computation nor communication is "
                    "known. If some ran, {}, or record with `nsys profile --trace=cuda,nvtx`",
                    why, kExportAgain));
  }
  if (nameless < kernels) return {};
  std::string why = fault(database, "StringIds", {"id", "value"}, true);
  if (!why.empty()) {
    why = "table StringIds " + why;
  } else if (Rows rows(database, kKernels, {"demangledName", "shortName"});
             database.has(kKernels) && !rows.has_column(0) && !rows.has_column(1)) {
    why = fmt::format("table {} lacks the columns demangledName and shortName", kKernels);
  } else {
    why = "table StringIds has none of their names";
  }
  return error(
      fmt::format("kernels without names ({}): computation and communication can't be told apart; {}", why,
                  kExportAgain));
}

}  // namespace lockstep::analyzer::nsys
