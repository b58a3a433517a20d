#include "analyzer/import/flight_recorder/json.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep::analyzer::flight_recorder {
namespace {

using Id = Document::Id;
using Json = nlohmann::json;

// Builds the document while the text is read: a text that is cut keeps what came before.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(Document& document) : document_(document) {}

  bool null() override { return put(document_.add_none()); }
  bool boolean(bool value) override { return put(document_.add_boolean(value)); }
  bool number_integer(std::int64_t value) override { return put(document_.add_integer(value)); }
  bool number_unsigned(std::uint64_t value) override {
    return value <= INT64_MAX ? put(document_.add_integer(static_cast<std::int64_t>(value)))
                              : put(document_.add_real(static_cast<double>(value)));
  }
  bool number_float(double value, const std::string& /*text*/) override {
    return put(document_.add_real(value));
  }
  bool string(std::string& value) override { return put(document_.add_text(value)); }
  bool binary(Json::binary_t& /*value*/) override { return put(document_.add_none()); }
  bool start_object(std::size_t /*size*/) override { return open(document_.add_dictionary()); }
  bool start_array(std::size_t /*size*/) override { return open(document_.add_list()); }
  bool key(std::string& value) override {
    open_.back().key = document_.add_text(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& /*exception*/) override {
    problem_ = fmt::format("byte {}: the JSON is cut or damaged", position);
    return false;
  }

  std::optional<std::string> problem() const { return problem_; }

 private:
  struct Open {
    Id container = 0;
    Id key = 0;
  };
  bool put(Id value) {
    if (document_.size() > kMaxValues) {
      problem_ = "too many values for a flight recorder's dump";
      return false;
    }
    if (open_.empty()) {
      document_.set_root(value);
    } else if (document_.kind(open_.back().container) == Document::Kind::list) {
      document_.append(open_.back().container, value);
    } else {
      document_.set(open_.back().container, open_.back().key, value);
    }
    return true;
  }
  bool open(Id container) {
    if (!put(container)) return false;
    open_.push_back({container, 0});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Document& document_;
  std::vector<Open> open_;
  std::optional<std::string> problem_;
};

// Stacks and names of a dump have some KiB. A longer value would take several times its length of memory.
constexpr std::size_t kLongestValue = std::size_t{64} << 20U;

// Where the first string begins that is longer; npos: none is. The text's end ends one that is cut.
std::size_t first_too_long(std::string_view text) {
  for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at)) {
    const std::size_t begin = at++;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    if (at - begin > kLongestValue) return begin;
    if (at >= text.size()) break;
    ++at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::string> read_json(std::string_view text, Document& document) {
  // A number at a cut end may be the beginning of another: "10" of 1000.
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::size_t last = text.find_last_not_of("0123456789.eE+-");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '['))
    text = text.substr(0, last + 1);
  const std::size_t too_long = first_too_long(text);
  if (too_long != std::string_view::npos) text = text.substr(0, too_long);
  Builder builder(document);
  (void)Json::sax_parse(text.begin(), text.end(), &builder);
  if (too_long != std::string_view::npos)
    return fmt::format("the text at byte {} is longer than {} MiB, which nothing in a dump is", too_long,
                       kLongestValue >> 20U);
  return builder.problem();
}

}  // namespace lockstep::analyzer::flight_recorder
