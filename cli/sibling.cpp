#include "cli/sibling.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/own_program.h"
#include "cli/common/exit_codes.h"
#include "cli/common/parse.h"

namespace lockstep::cli {
namespace {

// `arguments` begin with the program's name as it shall see it, and end with a null pointer.
int run_sibling(const std::string& verb, const char* program_name, const char* how_to_build,
                char* const* arguments) {
  std::error_code error;
  const std::filesystem::path self = own_program(error);
  const auto failed = [&](const std::string& why) {
    fail(verb, Error{why});
    return failure_of(verb);
  };
  if (error) return failed("cannot find out where lockstep itself is: " + error.message());
  const std::string program = (self.parent_path() / program_name).string();
  execv(program.c_str(), arguments);
  if (errno == ENOENT) return failed(fmt::format("{} is not there: {}", program, how_to_build));
  return failed(fmt::format("cannot start {}: {}", program, std::strerror(errno)));
}

// A program of one verb sees "lockstep VERB" as its name.
int run_program_of(const char* program_name, const char* how_to_build, char** argv) {
  const std::string verb = argv[0];
  std::string name = "lockstep " + verb;
  argv[0] = name.data();
  return run_sibling(verb, program_name, how_to_build, argv);
}

}  // namespace

int run_view(int /*argc*/, char** argv) {
  return run_program_of("lockstep-view",
                        "the viewer was not built (cmake -DLOCKSTEP_VIEWER=ON, after scripts/setup)", argv);
}

int run_train(int /*argc*/, char** argv) {
  return run_program_of(
      "lockstep-train",
      "the reference trainer was not built (cmake -DLOCKSTEP_TRAINER=ON, after scripts/setup)", argv);
}

int run_analysis_verb(int argc, char** argv) {
  std::string name = "lockstep-analyze";
  std::vector<char*> arguments{name.data()};
  arguments.insert(arguments.end(), argv, argv + argc);
  arguments.push_back(nullptr);
  return run_sibling(argv[0], "lockstep-analyze", "install it beside lockstep", arguments.data());
}

}  // namespace lockstep::cli
