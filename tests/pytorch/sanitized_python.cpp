// Linked into the tests of this folder: every Python that they start can load what a sanitizer instruments.
#include <stdlib.h>

#include <string>

#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

[[maybe_unused]] const bool kIsPrepared = [] {
  for (const std::string& variable : sanitizer_for_others()) {
    const std::size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 0);
  }
  return true;
}();

}  // namespace
}  // namespace lockstep::end_to_end
