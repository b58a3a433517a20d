// `lockstep view` and `lockstep train` are programs of their own, because of what they link (OpenGL,
// libtorch). They stand beside this one and take over its process.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/own_program.h"
#include "cli/parse.h"
#include "cli/verb.h"

namespace lockstep::cli {
namespace {

int run_sibling(const char* verb, const char* how_to_build, char** argv) {
  std::error_code error;
  const std::filesystem::path self = own_program(error);
  if (error) return fail(verb, Error{"cannot find out where lockstep itself is: " + error.message()});
  const std::string program = (self.parent_path() / (std::string("lockstep-") + verb)).string();
  std::string name = std::string("lockstep ") + verb;
  argv[0] = name.data();
  execv(program.c_str(), argv);
  if (errno == ENOENT) {
    return fail(verb, Error{fmt::format("{} is not there: {}", program, how_to_build)});
  }
  return fail(verb, Error{fmt::format("cannot start {}: {}", program, std::strerror(errno))});
}

}  // namespace

int run_view(int, char** argv) {
  return run_sibling("view", "the viewer was not built (cmake -DLOCKSTEP_VIEWER=ON, after scripts/setup)",
                     argv);
}

int run_train(int, char** argv) {
  return run_sibling("train",
                     "the reference trainer was not built (cmake -DLOCKSTEP_TRAINER=ON, after scripts/setup)",
                     argv);
}

}  // namespace lockstep::cli
