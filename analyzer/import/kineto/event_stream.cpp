#include "analyzer/import/kineto/event_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "analyzer/import/kineto/json_text.h"

namespace lockstep::analyzer::kineto {
namespace {

class Streamer {
 public:
  Streamer(ByteSource& source, EventSink& sink, const StreamOptions& options)
      : source_(source), sink_(sink), options_(options) {
    buffer_.resize(options_.window + kBehind);
  }

  StreamSummary run() {
    document();
    summary_.bytes = base_ + end_;
    if (!source_.problem().empty()) {
      summary_.problem = summary_.problem.empty()
                             ? source_.problem()
                             : fmt::format("{} ({})", source_.problem(), summary_.problem);
    }
    return std::move(summary_);
  }

 private:
  std::string_view text() const { return {buffer_.data(), end_}; }
  char at(std::size_t index) const { return buffer_[index]; }

  // Moves what is not used yet to the front and reads more behind it. False if there is no more.
  bool refill() {
    if (finished_) return false;
    // One used byte stays in front: parse() puts its bracket there.
    const std::size_t keep_from = pos_ == 0 ? 0 : pos_ - 1;
    std::memmove(buffer_.data(), buffer_.data() + keep_from, end_ - keep_from);
    base_ += keep_from;
    pos_ -= keep_from;
    end_ -= keep_from;
    std::size_t room = buffer_.size() - kBehind - end_;
    if (room < options_.window / 2) {
      buffer_.resize(buffer_.size() * 2);
      room = buffer_.size() - kBehind - end_;
    }
    const std::size_t got = source_.read(buffer_.data() + end_, room);
    finished_ = got < room;
    end_ += got;
    if (options_.progress) options_.progress();
    return got > 0;
  }

  bool skip_space_and_refill() {
    while (true) {
      pos_ = skip_space(text(), pos_);
      if (pos_ < end_) return true;
      if (!refill()) return false;
    }
  }

  bool stop(std::string why) {
    if (summary_.problem.empty()) summary_.problem = std::move(why);
    return false;
  }
  bool stop_cut() { return stop(fmt::format("ends in the middle of the JSON, at byte {}", base_ + end_)); }
  bool stop_unexpected(const char* expected) {
    return stop(fmt::format("byte {} is {}, expected {}", base_ + pos_, describe(at(pos_)), expected));
  }
  static std::string describe(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x21 && byte < 0x7F ? fmt::format("'{}'", c) : fmt::format("0x{:02X}", byte);
  }

  // One past the end of the value at pos_; kIncomplete if the file ends first or the value is too long.
  std::size_t find_value_end() {
    while (true) {
      const std::size_t end = value_end(text(), pos_);
      if (end != kIncomplete) return end;
      if (end_ - pos_ > options_.longest_element) {
        stop(fmt::format("the value at byte {} is longer than {} MiB", base_ + pos_,
                         options_.longest_element >> 20));
        return kIncomplete;
      }
      if (!refill()) {
        stop_cut();
        return kIncomplete;
      }
    }
  }

  void document() {
    refill();
    if (text().substr(0, 3) == "\xEF\xBB\xBF") pos_ = 3;
    if (!skip_space_and_refill()) {
      summary_.empty = true;
      return;
    }
    if (at(pos_) == '[') {
      ++pos_;
      if (!events()) return;
    } else if (at(pos_) == '{') {
      ++pos_;
      if (!members()) return;
    } else {
      stop_unexpected("'{' or '['");
      return;
    }
    if (skip_space_and_refill())
      stop(fmt::format("other bytes stand behind the JSON, from byte {} on", base_ + pos_));
  }

  bool members() {
    for (bool first = true;; first = false) {
      if (!skip_space_and_refill()) return stop_cut();
      if (at(pos_) == '}') {
        ++pos_;
        return true;
      }
      if (!first) {
        if (at(pos_) != ',') return stop_unexpected("',' or '}'");
        ++pos_;
        if (!skip_space_and_refill()) return stop_cut();
      }
      if (at(pos_) != '"') return stop_unexpected("a key in quotes");
      const std::size_t key_end = find_value_end();
      if (key_end == kIncomplete) return false;
      const std::string key(buffer_.data() + pos_ + 1, key_end - pos_ - 2);
      pos_ = key_end;
      if (!skip_space_and_refill()) return stop_cut();
      if (at(pos_) != ':') return stop_unexpected("':'");
      ++pos_;
      if (!skip_space_and_refill()) return stop_cut();
      if (key == "traceEvents" && at(pos_) == '[') {
        ++pos_;
        if (!events()) return false;
        continue;
      }
      const std::size_t end = find_value_end();
      if (end == kIncomplete) return false;
      if (end == pos_) return stop_unexpected("a value");
      sink_.member(key, text().substr(pos_, end - pos_));
      pos_ = end;
    }
  }

  // The elements of traceEvents; pos_ stands behind '[' and ends behind ']'.
  bool events() {
    summary_.has_events = true;
    std::size_t slow_until = 0;  // absolute position: until there, element by element
    while (true) {
      if (!skip_space_and_refill()) return stop_cut();
      if (at(pos_) == ']') {
        ++pos_;
        return true;
      }
      if (at(pos_) == ',') {
        ++pos_;
        continue;
      }
      const std::size_t boundary = base_ + pos_ < slow_until ? std::string_view::npos : boundary_in_window();
      if (boundary != std::string_view::npos) {
        if (parse(boundary)) continue;
        slow_until = base_ + boundary;
        continue;
      }
      if (!single_element()) return false;
    }
  }

  // Reads on first if less than half a window is left: a boundary near the end is worth more than one near
  // the front.
  std::size_t boundary_in_window() {
    if (end_ - pos_ < options_.window / 2) refill();
    const std::size_t boundary = last_object_boundary(text().substr(pos_));
    return boundary == std::string_view::npos ? boundary : pos_ + boundary;
  }

  // Hands the elements in [pos_, boundary) over and moves pos_ behind the last one that was read. False if
  // there was none.
  bool parse(std::size_t boundary) {
    // The byte before pos_ was used up: it is the '[' or ',' before the element, or white space.
    const char after = std::exchange(buffer_[boundary], ']');
    const char before = std::exchange(buffer_[pos_ - 1], '[');
    const simdjson::padded_string_view view(buffer_.data() + pos_ - 1, boundary - pos_ + 2,
                                            buffer_.size() - (pos_ - 1));
    const char* last = elements(view);
    buffer_[boundary] = after;
    buffer_[pos_ - 1] = before;
    if (last == nullptr) return false;
    const std::size_t end = value_end(text(), static_cast<std::size_t>(last - buffer_.data()));
    pos_ = end == kIncomplete ? boundary : end;
    return true;
  }

  // Where the last element that was wholly read begins; null if none was. An element that the sink left early
  // counts once simdjson has found its end, which it has when it gives the next element or the array's end.
  const char* elements(simdjson::padded_string_view view) {
    const char* last = nullptr;
    const char* left_early = nullptr;
    const auto count_left_early = [&] {
      if (left_early == nullptr) return;
      last = std::exchange(left_early, nullptr);
      ++summary_.events;
    };
    simdjson::ondemand::document document;
    simdjson::ondemand::array array;
    if (parser_.iterate(view).get(document) != simdjson::SUCCESS ||
        document.get_array().get(array) != simdjson::SUCCESS)
      return last;
    for (auto element : array) {
      simdjson::ondemand::value value;
      const char* location = nullptr;
      simdjson::ondemand::object object;
      if (element.get(value) != simdjson::SUCCESS) return last;
      count_left_early();
      bool whole = false;
      if (document.current_location().get(location) != simdjson::SUCCESS ||
          value.get_object().get(object) != simdjson::SUCCESS ||
          sink_.event(object, whole) != simdjson::SUCCESS)
        return last;
      left_early = location;
      if (whole) count_left_early();
    }
    count_left_early();
    return last;
  }

  bool single_element() {
    const std::size_t end = find_value_end();
    if (end == kIncomplete) return false;
    if (end == pos_) return stop_unexpected("an event");
    if (at(pos_) == '{' && parse(end)) return true;
    if (at(pos_) == '{') {
      const std::size_t repaired = repair_text(buffer_.data() + pos_, end - pos_);
      summary_.repaired_bytes += repaired;
      if (repaired > 0 && parse(end)) return true;
    }
    ++summary_.unreadable;
    pos_ = end;
    return true;
  }

  // Behind the text: the bracket that closes a window, and what simdjson may read past it.
  static constexpr std::size_t kBehind = simdjson::SIMDJSON_PADDING + 1;

  ByteSource& source_;
  EventSink& sink_;
  const StreamOptions& options_;
  StreamSummary summary_;
  simdjson::ondemand::parser parser_;
  std::vector<char> buffer_;
  std::size_t pos_ = 0;     // first byte that is not used up
  std::size_t end_ = 0;     // of what is read
  std::uint64_t base_ = 0;  // position of buffer_[0] in the document
  bool finished_ = false;
};

}  // namespace

StreamSummary stream_events(ByteSource& source, EventSink& sink, const StreamOptions& options) {
  return Streamer(source, sink, options).run();
}

}  // namespace lockstep::analyzer::kineto
