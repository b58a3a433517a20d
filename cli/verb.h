// The verbs of `lockstep`. Each parses its own arguments (argv[0] is the verb) and returns the exit code.
#pragma once

namespace lockstep::cli {

// Exit codes of every verb but `record`, which returns the job's own.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  // the input could not be read or the output not written; stderr says why
inline constexpr int kUsage = 2;    // the command line is wrong

struct Verb {
  const char* name;
  const char* summary;  // one line for `lockstep --help`
  int (*run)(int argc, char** argv);
};

int run_collect(int argc, char** argv);
int run_analyze(int argc, char** argv);
int run_baseline(int argc, char** argv);
int run_check(int argc, char** argv);
int run_doctor(int argc, char** argv);
int run_explain(int argc, char** argv);
int run_export(int argc, char** argv);
int run_view(int argc, char** argv);
int run_train(int argc, char** argv);

}  // namespace lockstep::cli
