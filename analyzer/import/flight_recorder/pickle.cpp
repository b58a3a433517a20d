#include "analyzer/import/flight_recorder/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>
#include <utility>

namespace lockstep::analyzer::flight_recorder {
namespace {

using Id = Document::Id;

// The opcodes that are more than data. Each would make Python import, call or build something.
const char* code_opcode(unsigned char opcode) {
  switch (opcode) {
    case 'c':
      return "GLOBAL";
    case 0x93:
      return "STACK_GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 0x81:
      return "NEWOBJ";
    case 0x92:
      return "NEWOBJ_EX";
    case 'P':
      return "PERSID";
    case 'Q':
      return "BINPERSID";
    case 0x82:
    case 0x83:
    case 0x84:
      return "EXT";
    default:
      return nullptr;
  }
}

class Unpickler {
 public:
  Unpickler(std::span<const std::byte> bytes, Document& document) : bytes_(bytes), document_(document) {}

  std::optional<PickleProblem> run() {
    while (problem_.empty() && !stopped_) step();
    if (refused_) return PickleProblem{std::move(problem_), true};
    if (!stopped_) settle_what_is_open();
    if (!stack_.empty()) document_.set_root(stopped_ ? stack_.back() : stack_.front());
    if (problem_.empty()) return std::nullopt;
    return PickleProblem{std::move(problem_), false};
  }

 private:
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = fmt::format("byte {}: {}", opcode_at_, what);
  }

  // --- reading ---

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      fail(fmt::format("the pickle is cut: {} bytes are missing", count - (bytes_.size() - at_)));
      at_ = bytes_.size();
      return {};
    }
    const std::span<const std::byte> taken = bytes_.subspan(at_, static_cast<std::size_t>(count));
    at_ += static_cast<std::size_t>(count);
    return taken;
  }
  std::uint64_t little_endian(std::size_t width) {
    std::uint64_t value = 0;
    const std::span<const std::byte> taken = take(width);
    for (std::size_t i = 0; i < taken.size(); ++i)
      value |= static_cast<std::uint64_t>(std::to_integer<unsigned char>(taken[i])) << (8 * i);
    return value;
  }
  std::string_view text(std::uint64_t length) {
    const std::span<const std::byte> taken = take(length);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  // --- the stack ---

  // Nothing where its bytes are cut.
  void push(Id value) {
    if (problem_.empty()) stack_.push_back(value);
  }
  std::size_t mark() const { return marks_.empty() ? 0 : marks_.back(); }
  bool pop(Id& value) {
    if (stack_.size() <= mark()) {
      fail("the stack is empty");
      return false;
    }
    value = stack_.back();
    stack_.pop_back();
    return true;
  }
  // What stands above the last mark, which is taken away.
  std::vector<Id> pop_to_mark() {
    if (marks_.empty()) {
      fail("there is no mark");
      return {};
    }
    std::vector<Id> values(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return values;
  }
  void push_list(const std::vector<Id>& values) {
    const Id list = document_.add_list();
    for (const Id value : values) document_.append(list, value);
    push(list);
  }
  void fill(Id container, const std::vector<Id>& values) {
    if (document_.kind(container) == Document::Kind::list) {
      for (const Id value : values) document_.append(container, value);
    } else if (document_.kind(container) == Document::Kind::dictionary) {
      for (std::size_t i = 0; i + 1 < values.size(); i += 2)
        document_.set(container, values[i], values[i + 1]);
    } else {
      fail("items for what is no list and no dictionary");
    }
  }
  void fill_from_mark() {
    const std::vector<Id> values = pop_to_mark();
    if (!problem_.empty()) return;
    if (stack_.size() <= mark()) return fail("items for nothing");
    fill(stack_.back(), values);
  }
  void push_tuple(std::size_t count) {
    std::vector<Id> values(count);
    for (std::size_t i = count; i > 0; --i)
      if (!pop(values[i - 1])) return;
    push_list(values);
  }
  // A pickle fills its containers last: where it is cut, what was read so far goes where it belongs.
  void settle_what_is_open() {
    const std::string problem = problem_;
    while (!marks_.empty()) {
      const std::vector<Id> values = pop_to_mark();
      if (!stack_.empty() && stack_.size() > mark()) fill(stack_.back(), values);
    }
    problem_ = problem;
  }

  // --- the memo ---

  void put(std::uint64_t key) {
    if (stack_.size() <= mark()) return fail("nothing to remember");
    memo_[key] = stack_.back();
  }
  void get(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) return fail(fmt::format("nothing was remembered as {}", key));
    push(found->second);
  }

  // --- values ---

  void push_long(std::uint64_t width) {
    const std::span<const std::byte> taken = take(width);
    if (taken.size() != width) return;
    if (width > sizeof(std::int64_t)) return push(document_.add_none());  // no number of a dump is that large
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
      value |= static_cast<std::uint64_t>(std::to_integer<unsigned char>(taken[i])) << (8 * i);
    const bool negative = width > 0 && (std::to_integer<unsigned char>(taken.back()) & 0x80U) != 0;
    if (negative && width < sizeof value) value |= ~std::uint64_t{0} << (8 * width);
    push(document_.add_integer(static_cast<std::int64_t>(value)));
  }
  void push_big_endian_real() {
    const std::span<const std::byte> taken = take(sizeof(double));
    std::uint64_t bits = 0;
    for (const std::byte byte : taken) bits = bits << 8U | std::to_integer<std::uint64_t>(byte);
    push(document_.add_real(std::bit_cast<double>(bits)));
  }
  void push_text(std::string_view value) {
    if (problem_.empty()) push(document_.add_text(value));
  }

  bool step_text(unsigned char opcode) {
    switch (opcode) {
      case 'X':
      case 'T':
      case 'B':
        return push_text(text(little_endian(4))), true;
      case 0x8c:
      case 'U':
      case 'C':
        return push_text(text(little_endian(1))), true;
      case 0x8d:
      case 0x8e:
      case 0x96:
        return push_text(text(little_endian(8))), true;
      default:
        return false;
    }
  }

  bool step_number(unsigned char opcode) {
    switch (opcode) {
      case 'N':
        return push(document_.add_none()), true;
      case 0x88:
      case 0x89:
        return push(document_.add_boolean(opcode == 0x88)), true;
      case 'J':
        return push(document_.add_integer(static_cast<std::int32_t>(little_endian(4)))), true;
      case 'K':
        return push(document_.add_integer(static_cast<std::int64_t>(little_endian(1)))), true;
      case 'M':
        return push(document_.add_integer(static_cast<std::int64_t>(little_endian(2)))), true;
      case 0x8a:
        return push_long(little_endian(1)), true;
      case 0x8b:
        return push_long(little_endian(4)), true;
      case 'G':
        return push_big_endian_real(), true;
      default:
        return false;
    }
  }

  bool step_memo(unsigned char opcode) {
    switch (opcode) {
      case 'q':
        return put(little_endian(1)), true;
      case 'r':
        return put(little_endian(4)), true;
      case 0x94:
        return put(memo_.size()), true;
      case 'h':
        return get(little_endian(1)), true;
      case 'j':
        return get(little_endian(4)), true;
      default:
        return false;
    }
  }

  void set_item() {
    Id value = 0;
    Id key = 0;
    if (!pop(value) || !pop(key)) return;
    if (stack_.size() <= mark()) return fail("an item for nothing");
    fill(stack_.back(), {key, value});
  }
  void append_item() {
    Id value = 0;
    if (!pop(value)) return;
    if (stack_.size() <= mark()) return fail("an item for nothing");
    fill(stack_.back(), {value});
  }
  void push_dictionary_from_mark() {
    const std::vector<Id> values = pop_to_mark();
    const Id dictionary = document_.add_dictionary();
    fill(dictionary, values);
    push(dictionary);
  }

  bool step_container(unsigned char opcode) {
    switch (opcode) {
      case '(':
        return marks_.push_back(stack_.size()), true;
      case ']':
      case ')':
        return push(document_.add_list()), true;
      case '}':
        return push(document_.add_dictionary()), true;
      case 'l':
      case 't':
        return push_list(pop_to_mark()), true;
      case 'd':
        return push_dictionary_from_mark(), true;
      case 0x85:
        return push_tuple(1), true;
      case 0x86:
        return push_tuple(2), true;
      case 0x87:
        return push_tuple(3), true;
      case 'a':
        return append_item(), true;
      case 's':
        return set_item(), true;
      case 'e':
      case 'u':
        return fill_from_mark(), true;
      default:
        return false;
    }
  }

  bool step_stack(unsigned char opcode) {
    Id ignored = 0;
    switch (opcode) {
      case 0x80:
        if (const std::uint64_t protocol = little_endian(1); problem_.empty() && protocol > 5)
          fail(fmt::format("pickle protocol {}, which is newer than 5", protocol));
        return true;
      case 0x95:
        return (void)take(8), true;  // FRAME: how much to read at once
      case '0':
        return (void)pop(ignored), true;
      case '1':
        return (void)pop_to_mark(), true;
      case '2':
        if (stack_.size() <= mark()) return fail("nothing to repeat"), true;
        return push(stack_.back()), true;
      case '.':
        if (stack_.size() <= mark()) return fail("the pickle ends without a value"), true;
        return stopped_ = true, true;
      default:
        return false;
    }
  }

  void step() {
    opcode_at_ = at_;
    if (document_.size() > kMaxValues) return fail("too many values for a flight recorder's dump");
    if (at_ >= bytes_.size()) return fail("the pickle is cut: it has no end");
    const auto opcode = std::to_integer<unsigned char>(bytes_[at_++]);
    if (step_number(opcode) || step_text(opcode) || step_container(opcode) || step_memo(opcode) ||
        step_stack(opcode))
      return;
    if (const char* const name = code_opcode(opcode); name != nullptr) {
      refused_ = true;
      return fail(
          fmt::format("opcode {} would make Python import or call something: refused; a flight "
                      "recorder's dump holds nothing but data",
                      name));
    }
    fail(fmt::format("unknown opcode 0x{:02x}", opcode));
  }

  std::span<const std::byte> bytes_;
  Document& document_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  std::vector<Id> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::unordered_map<std::uint64_t, Id> memo_;
  std::string problem_;
  bool refused_ = false;
  bool stopped_ = false;
};

}  // namespace

bool looks_like_pickle(std::span<const std::byte> beginning) {
  return beginning.size() >= 2 && std::to_integer<unsigned char>(beginning[0]) == 0x80 &&
         std::to_integer<unsigned char>(beginning[1]) >= 2 &&
         std::to_integer<unsigned char>(beginning[1]) <= 5;
}

bool looks_like_old_pickle(std::span<const std::byte> beginning) {
  if (beginning.size() < 2) return false;
  const auto at = [&](std::size_t place) { return std::to_integer<unsigned char>(beginning[place]); };
  // MARK and DICT or LIST, as text; EMPTY_DICT or EMPTY_LIST, BINPUT and its first number, or MARK. A ']'
  // begins no JSON, and neither does a '}'.
  if (at(0) == '(') {
    // "(dp0\n" of protocol 0, "(dq" of 1; a line of a log may begin with "(driver)".
    return (at(1) == 'd' || at(1) == 'l') && beginning.size() > 3 &&
           ((at(2) == 'p' && at(3) >= '0' && at(3) <= '9') || (at(2) == 'q' && at(3) < ' '));
  }
  if (at(0) != '}' && at(0) != ']') return false;
  return at(1) == '(' || (at(1) == 'q' && beginning.size() > 2 && at(2) == 0);
}

std::optional<PickleProblem> read_pickle(std::span<const std::byte> bytes, Document& document) {
  return Unpickler(bytes, document).run();
}

}  // namespace lockstep::analyzer::flight_recorder
