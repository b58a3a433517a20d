// c10d says what went wrong with a connection, and not in which operation. The trainer's messages say both.
#pragma once

#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>

#include "reference_trainer/distributed/failure_message.h"

namespace lockstep::trainer {

// What `call` returns; its exceptions as std::runtime_error with `operation` in front.
template <class Call>
auto naming(const std::string& operation, const Call& call) {
  try {
    return call();
  } catch (const c10::Error& error) {
    throw std::runtime_error(operation + ": " + without_source_places(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw std::runtime_error(operation + ": " + without_source_places(error.what()));
  }
}

}  // namespace lockstep::trainer
