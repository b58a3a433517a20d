#include "reference_trainer/options/flag_kinds.h"
#include "reference_trainer/options/flags.h"

namespace lockstep::trainer {

void add_teaching_flags(CLI::App& app, Options& options) {
  const char* group = "Teaching aids";
  const auto add_fault = [&options](const std::string& specification) {
    const Result<Fault> fault = parse_fault(specification);
    if (!fault.ok()) throw CLI::ValidationError(fault.error().message);
    options.faults.push_back(fault.value());
  };
  app.add_option_function<std::vector<std::string>>(
         "--fault",
         [add_fault](const std::vector<std::string>& specifications) {
           for (const std::string& specification : specifications) add_fault(specification);
         },
         "A planted cause of waiting, KIND[:KEY=VALUE,…]; may be repeated. Kinds: see below")
      ->allow_extra_args(false)
      ->type_name("SPEC")
      ->group(group);
  CLI::Option* const rank =
      app.add_option("--slow-rank", options.slow.rank, "Short for --fault slow_rank:rank=RANK,factor=N")
          ->check(whole_number(0, kMillion))
          ->type_name("RANK")
          ->group(group);
  app.add_option("--slow-factor", options.slow.factor, "How many times (default 2)")
      ->check(whole_number(1, 1000))
      ->type_name("N")
      ->needs(rank)
      ->group(group);
}

std::string describe_teaching_flags() {
  return "Faults (--fault slow_loader:rank=1,ms=30,steps=3-5): keys, in brackets where they may be left out "
         "for all "
         "ranks;\nin parentheses what stands for an amount left out; steps=A-B with each\n" +
         describe_faults() + "\n";
}

}  // namespace lockstep::trainer
