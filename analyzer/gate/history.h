// Figures of checks one after the other, for those who draw them or look for change points in them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/gate/run_record.h"
#include "analyzer/gate/verdict.h"
#include "base/result.h"

namespace lockstep::analyzer {

// Which check it was.
struct CheckStamp {
  std::string time;    // of the check, in UTC: "2026-11-28T01:21:54Z"
  std::string commit;  // that was checked; "" where nobody knows
};

// `lockstep.history/1`, an object for one line of a file: the outcome, and of each figure of the job that the
// runs tell mean, deviation between runs and number of runs, whether the policy has it or not.
nlohmann::ordered_json to_history(const Verdict& verdict, std::span<const RunRecord> head,
                                  const CheckStamp& stamp);

// What Bencher's adapter `json` reads (Bencher Metric Format): a benchmark `name` with a measure a figure of
// the policy; a figure of a rank, a group or a phase is a measure of a benchmark "NAME: SCOPE". Lower and
// upper value are the mean less and plus the deviation between runs.
nlohmann::ordered_json to_bencher(const Verdict& verdict, std::string_view name);

// What Apache Otava reads (a test of type csv, time_column "time"): a line for each check, with a column a
// figure of the policy; of what is missing the field is empty. `before` is the file so far, "" for a new one,
// which gets a heading first. Error: its heading has other columns.
Result<std::string> append_to_otava(const std::string& before, const Verdict& verdict,
                                    const CheckStamp& stamp);

}  // namespace lockstep::analyzer
