#include "viewer/timeline/short_name.h"

#include <algorithm>
#include <bitset>
#include <optional>

namespace lockstep::viewer {

namespace {

constexpr std::size_t kMost = 4096;  // a screen full of names is read in every frame

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '~';
}

// Behind the bracket that closes the one at `at`; nothing where none does. In round and other brackets a lone
// '<' or '>' is an operator.
std::optional<std::size_t> behind_bracket(std::string_view name, std::size_t at) {
  constexpr std::size_t kDeepest = 256;
  std::bitset<kDeepest> angular;  // of what is open, which are '<'
  std::size_t depth = 0;
  for (; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      if (depth == kDeepest) return std::nullopt;
      angular[depth++] = c == '<';
      continue;
    }
    if (c == '>') {
      if (angular[depth - 1] && name[at - 1] != '-') --depth;
    } else if (c == ')' || c == '}' || c == ']') {
      while (depth > 0 && angular[depth - 1]) --depth;
      if (depth == 0) return std::nullopt;
      --depth;
    }
    if (depth == 0) return at + 1;
  }
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  // The own name; nothing where this is no function's.
  std::optional<std::string_view> read() {
    is_function_ = skip("void ");
    while (true) {
      const std::string_view before = own_;
      if (!read_part()) return std::nullopt;
      // "Kernel" alone is the name of most: with the namespace right before it.
      if (is_general(own_) && !before.empty() && is_letter(before.front()) &&
          before.data() + before.size() + 2 == own_.data())
        own_ = {before.data(), before.size() + 2 + own_.size()};
      if (skip("::")) {
        qualified_ = true;
        continue;
      }
      // Behind the type that it returns.
      if (!called_ && qualified_ && skip(" ")) {
        qualified_ = false;
        continue;
      }
      break;
    }
    if (!is_function_ || !(rest().empty() || (called_ && rest().starts_with(' ')))) return std::nullopt;
    return own_;
  }

 private:
  std::string_view rest() const { return name_.substr(at_); }
  bool skip(std::string_view text) {
    if (!rest().starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  static bool is_general(std::string_view own) {
    return own == "Kernel" || own == "Kernel2" || own == "kernel";
  }
  bool skip_bracket() {
    const auto behind = behind_bracket(name_, at_);
    if (behind) at_ = *behind;
    return behind.has_value();
  }
  // All of an operator's sign: what follows "operator<" is no template's argument.
  void skip_operator() {
    if (skip("()") || skip("[]")) return;
    for (const std::string_view sign : {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->"})
      if (skip(sign)) return;
    constexpr std::string_view kSigns = "<>=!+-*/%&|^~,";
    while (at_ < name_.size() && kSigns.find(name_[at_]) != std::string_view::npos) {
      ++at_;
      if (name_[at_ - 1] == '<' || name_[at_ - 1] == '>') return;
    }
  }

  // Up to the next "::" or to the end, with its template's arguments and its parameters.
  bool read_part() {
    called_ = false;
    const std::size_t begin = at_;
    if (rest().starts_with("(anonymous namespace)::") || rest().starts_with("{") || rest().starts_with("[")) {
      if (!skip_bracket()) return false;
    } else {
      while (at_ < name_.size() && is_letter(name_[at_])) ++at_;
      if (at_ == begin) return false;
      if (name_.substr(begin, at_ - begin) == "operator") skip_operator();
    }
    own_ = name_.substr(begin, at_ - begin);
    if (rest().starts_with('<')) {
      if (!skip_bracket()) return false;
      is_function_ = qualified_ = true;
    }
    if (rest().starts_with('(')) {
      if (!skip_bracket()) return false;
      is_function_ = called_ = true;
      // A local name follows a function's, const or not.
      if (rest().starts_with(" const::")) at_ += std::string_view(" const").size();
    }
    return true;
  }

  std::string_view name_, own_;
  std::size_t at_ = 0;
  bool is_function_ = false;  // there is something that only a function's name has
  bool qualified_ = false;    // what was read may be a type
  bool called_ = false;       // the last part ends in parameters
};

}  // namespace

std::string_view short_name(std::string_view name) {
  if (name.size() > kMost || name.starts_with("nccl")) return name;
  return Reader(name).read().value_or(name);
}

}  // namespace lockstep::viewer
