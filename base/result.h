// The outcome of an operation that can fail: a value or an error message.
//
//   Result<Reader> reader = Reader::open(path);
//   if (!reader.ok()) return reader.error();       // Error converts to any Result
//   use(reader.value());
//
// No conversion to bool: `if (result)` on a Result<bool> has fooled too many readers. A message names the
// file, flag or value that is wrong and says what to do. No exception crosses the boundary of a library of
// this project.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace lockstep {

struct Error {
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return state_.index() == 0; }
  // Precondition: ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  // Precondition: !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return !error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace lockstep
