#include "tests/accuracy/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "analyzer/analysis.h"
#include "tests/accuracy/cases.h"
#include "tests/accuracy/verdict.h"

namespace lockstep::accuracy {
namespace {

constexpr std::size_t kExamples = 5;
constexpr double kQuietLevel = 0.02;

std::uint64_t seed_of(const Cell& cell, std::int64_t index, std::uint64_t seed) {
  std::uint64_t mixed = seed;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(cell.ranks), static_cast<std::uint64_t>(cell.steps),
        static_cast<std::uint64_t>(cell.fault), static_cast<std::uint64_t>(cell.effect * 1e6),
        static_cast<std::uint64_t>(cell.noise_level * 1e6), static_cast<std::uint64_t>(index)})
    mixed = Random(mixed ^ (part * 0x9E3779B97F4A7C15u)).next();
  return mixed;
}

// "job 3 (gpu, noise of ddp-2 × 0.03): rank 1 is late by 4.9 % of a step, its mean moves by 2.0 %, chance
// 0.0312; said: jitter", for who looks for what a rule misses.
std::string describe_miss(const analyzer::Report& report, const Verdict& verdict, const Plan& plan,
                          std::int64_t index, const std::string& recording) {
  std::string text = fmt::format("job {} ({}, noise of {} × {:.2f}): ", index, to_string(plan.platform),
                                 recording, plan.noise_scale);
  for (const analyzer::RankLateness& late : report.lateness.ranks)
    if (late.rank == plan.slow_rank)
      text += fmt::format("rank {} is late by {:.1f} % of a step, its mean moves by {:.1f} %, chance {:.4f}",
                          late.rank, 100 * late.share,
                          100 * static_cast<double>(late.movement_ns) /
                              static_cast<double>(std::max<std::int64_t>(1, report.lateness.step_ns)),
                          late.chance);
  return text +
         fmt::format("; said: {}",
                     fmt::join(verdict.accusations.empty() ? verdict.codes : verdict.accusations, ", "));
}

class Counting {
 public:
  Counting(const Cell& cell, std::uint64_t seed, const std::vector<NoiseRecording>& noise,
           const LookAtReport& look)
      : seed_(seed), noise_(noise), look_(look) {
    result_.cell = cell;
  }

  void work() {
    for (;;) {
      const std::int64_t index = next_++;
      if (index >= result_.cell.jobs || failed_) return;
      std::size_t recording = 0;
      const Plan plan = plan_of(result_.cell, index, seed_, noise_, recording);
      const analyzer::Job job = simulate(plan, noise_[recording]);
      analyzer::AnalysisOptions options;
      options.keep_segments = false;
      options.steady = true;  // as `lockstep analyze`
      const Result<analyzer::Analysis> analysis = analyzer::analyze(job, options);
      const std::lock_guard lock(mutex_);
      if (!analysis.ok()) {
        failed_ = true;
        error_ = analysis.error();
        return;
      }
      const analyzer::Report& report = analysis.value().report;
      if (look_) look_(report);
      const Verdict verdict = judge(report, plan.fault, plan.slow_rank);
      count(verdict, plan, index, noise_[recording].name);
      if (plan.fault != Fault::none && !verdict.cause_named)
        result_.misses.push_back(describe_miss(report, verdict, plan, index, noise_[recording].name));
    }
  }

  Result<CellResult> result() {
    if (error_) return *error_;
    return std::move(result_);
  }

 private:
  void count(const Verdict& verdict, const Plan& plan, std::int64_t index, const std::string& recording) {
    ++result_.jobs;
    result_.found += verdict.found ? 1 : 0;
    result_.cause_named += verdict.cause_named ? 1 : 0;
    for (const std::string& code : std::set<std::string>(verdict.codes.begin(), verdict.codes.end()))
      ++result_.findings[code];
    if (verdict.wrongly_accused == 0) return;
    ++result_.accused;
    ++result_.accused_by[std::string(to_string(plan.platform))];
    ++result_.accused_by[recording];
    ++result_.accused_by[plan.noise_scale < 1 ? "noise brought down" : "noise as recorded"];
    for (const std::string& accusation : verdict.accusations)
      if (result_.examples.size() < kExamples)
        result_.examples.push_back(fmt::format("job {} ({}, noise of {} × {:.2f}): {}", index,
                                               to_string(plan.platform), recording, plan.noise_scale,
                                               accusation));
  }

  std::uint64_t seed_;
  const std::vector<NoiseRecording>& noise_;
  const LookAtReport& look_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
  CellResult result_;
};

}  // namespace

Plan plan_of(const Cell& cell, std::int64_t index, std::uint64_t seed,
             const std::vector<NoiseRecording>& noise, std::size_t& recording) {
  Random random(seed_of(cell, index, seed));
  Plan plan;
  plan.ranks = cell.ranks;
  plan.steps = cell.steps;
  plan.fault = cell.fault;
  plan.effect = cell.effect;
  plan.levelled = cell.levelled;
  plan.platform = index % 2 == 0 ? Platform::gpu : Platform::cpu;
  recording = static_cast<std::size_t>(index / 4) % noise.size();
  const bool quiet = index / 2 % 2 == 1;
  plan.noise_scale = cell.noise_level > 0                 ? scale_for(noise[recording], cell.noise_level)
                     : quiet && cell.fault == Fault::none ? scale_for(noise[recording], kQuietLevel)
                                                          : 1;
  plan.slow_rank = static_cast<std::int32_t>(random.below(static_cast<std::size_t>(cell.ranks)));
  plan.transfer_share = random.uniform(0.01, 0.06);
  plan.seed = random.next();
  return plan;
}

Result<CellResult> run_cell(const Cell& cell, std::uint64_t seed, const std::vector<NoiseRecording>& noise,
                            int threads, const LookAtReport& look) {
  const auto begin = std::chrono::steady_clock::now();
  Counting counting(cell, seed, noise, look);
  std::vector<std::thread> workers;
  for (int i = 1; i < threads; ++i) workers.emplace_back([&counting] { counting.work(); });
  counting.work();
  for (std::thread& worker : workers) worker.join();
  Result<CellResult> result = counting.result();
  if (!result.ok()) return result;
  CellResult counted = std::move(result).value();
  counted.seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count();
  return counted;
}

Result<std::vector<KindResult>> run_kinds(std::int64_t jobs, std::uint64_t seed, const LookAtReport& look) {
  std::vector<KindResult> results;
  for (const KindCase& kind : kind_cases()) {
    KindResult& result = results.emplace_back();
    result.code = kind.code;
    result.evidence = kind.evidence;
    analyzer::AnalysisOptions options;
    options.steady = true;
    for (std::int64_t index = 0; index < jobs; ++index) {
      Random random = Random::of_job(seed, index);
      const Result<analyzer::Analysis> analysis = analyzer::analyze(kind.make(random), options);
      if (!analysis.ok()) return Error{fmt::format("{}: {}", kind.code, analysis.error().message)};
      if (look) look(analysis.value().report);
      std::set<std::string> codes;
      for (const analyzer::Finding& finding : analysis.value().report.findings) codes.insert(finding.code);
      for (const std::string& code : codes) ++result.findings[code];
      result.found += codes.contains(result.code) ? 1 : 0;
      ++result.jobs;
    }
  }
  return results;
}

}  // namespace lockstep::accuracy
