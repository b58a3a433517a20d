// What the user says communicates, beyond the names known to trace/events/communication_names.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/operation.h"
#include "base/result.h"

namespace re2 {
class RE2;
}

namespace lockstep::analyzer {

class CommunicationPatterns {
 public:
  // Each text is `REGEX` or `REGEX=operation` (all_reduce, send, …), or `@FILE`: a file of such lines, in
  // which empty lines and what begins with # do not count. Expressions are RE2's, and are looked for anywhere
  // in a name. Errors name the text, or the file and line: no expression, an unknown operation, a file that
  // can't be read.
  static Result<std::shared_ptr<const CommunicationPatterns>> parse(const std::vector<std::string>& texts);

  // Which operation kernels (on CPUs operators, or annotations) of this name are; unknown: communication, and
  // the name does not say which. Empty: no expression is found in it. The first that is counts.
  std::optional<trace::Operation> find(std::string_view name) const;

  // Those, as they were given, that are found in none of these names.
  std::vector<std::string> not_found_in(const std::vector<std::string_view>& names) const;

  // Differs where the patterns do: for what was made by them and kept.
  const std::string& identity() const { return identity_; }

 private:
  struct Pattern {
    std::string text;
    std::shared_ptr<const re2::RE2> expression;
    std::optional<trace::Operation> operation;  // empty: by the name
  };
  Status add(std::string_view text, const std::string& where);
  Status add_file(const std::string& path);

  std::vector<Pattern> patterns_;
  std::string identity_;
};

}  // namespace lockstep::analyzer
