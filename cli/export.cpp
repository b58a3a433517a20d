#include "cli/parse.h"
#include "cli/verb.h"

namespace lockstep::cli {

int run_export(int, char**) {
  return fail("export", Error{"not built yet"});
}

}  // namespace lockstep::cli
