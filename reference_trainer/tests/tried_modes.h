// How every mode is tried. Tests of what all modes have to bear go through modes/list.h; what they need to
// know of a mode stands in tried.json of its folder:
//
//   {"modes": {"zero1": {"flags": "--heads 2", "killed_while_recorded": true}, …},
//    "float32": [JOB, …], "reproduction": [JOB, …], "cuda": [JOB, …]}
//
// with the jobs that the tests of these names train, each
//
//   {"name": "zero1", "ranks": 4, "layers": 2, "flags": "--batch-size 2", "zero_optimization": {"stage": 1}}
//
// What is left out is as TriedMode and TriedJob have it.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::trainer {

struct TriedMode {
  std::string name;
  // What beside --mode its smallest job needs, on three ranks or on two and four, of a model of three or four
  // layers.
  std::vector<std::string> flags = {};
  // Such a job takes seconds: of modes that wait in the same places one is enough.
  bool killed_while_recorded = false;
};
void PrintTo(const TriedMode& mode, std::ostream* out);

// Every mode that several ranks train in, in the order of the list.
std::vector<TriedMode> tried_modes();

struct TriedJob {
  std::string name;
  int ranks = 2, layers = 2;  // "float32" alone
  std::vector<std::string> flags = {};
  nlohmann::json zero_optimization = nullptr;  // of DeepSpeed's configuration; null: it has none
  bool in_order = true;                        // "cuda": its operations come in one order
};
void PrintTo(const TriedJob& job, std::ostream* out);

// Of all folders of modes, what stands under `test`.
std::vector<TriedJob> tried_jobs(const std::string& test);

}  // namespace lockstep::trainer
