// Random small Kineto documents for the property tests: every kind of event, fields in any order or missing,
// numbers in every form, ranges that nest and cross, ids that collide.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace lockstep::analyzer::kineto {

class RandomTrace {
 public:
  explicit RandomTrace(std::uint64_t seed) : random_(seed) {}

  std::string document();
  // Flips, removes, repeats and inserts bytes.
  std::string damage(std::string text);
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  using Field = std::pair<std::string, std::string>;  // key, value as JSON

  template <std::size_t n>
  const char* any(const char* const (&choices)[n]) {
    return choices[below(n)];
  }
  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }
  std::string time();
  std::string duration();
  std::string space();
  std::string object(std::vector<Field> fields);
  std::string device_event();
  std::string launch_event();
  std::string host_event();
  std::string other_event();
  std::vector<Field> collective_arguments();

  std::mt19937_64 random_;
};

}  // namespace lockstep::analyzer::kineto
