// What the recorder tells people, on stderr. Nothing here throws, and nothing waits for a reader that is
// gone.
#pragma once

#include <exception>
#include <string_view>

namespace lockstep::tracer::record {

// With --quiet: from then on nothing is said but what say_aloud() says.
void be_quiet(bool quiet) noexcept;
bool is_quiet() noexcept;

// "lockstep record: message", a line; with --quiet too: why the command was not run, and what was asked for.
void say_aloud(std::string_view message) noexcept;
// The same, but with --quiet.
void say(std::string_view message) noexcept;
// The same in lines of at most 100 columns, for people who read the end of a job's output.
void say_wrapped(std::string_view message) noexcept;
// "what failed: why"; nothing where `what` is empty.
void say_failed(std::string_view what, const char* why) noexcept;

// Does what the command can do without. False: it could not be done, which is said.
template <class Step>
bool attempt(std::string_view what, const Step& step) noexcept {
  try {
    step();
    return true;
  } catch (const std::bad_alloc&) {
    say_failed(what, "out of memory");
  } catch (const std::exception& error) {
    say_failed(what, error.what());
  } catch (...) {
    say_failed(what, "for an unknown reason");
  }
  return false;
}

}  // namespace lockstep::tracer::record
