#include "analyzer/import/flight_recorder/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/flight_recorder/json.h"
#include "analyzer/import/flight_recorder/pickled.h"

namespace lockstep::analyzer::flight_recorder {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

struct Read {
  explicit Read(std::string_view bytes) : problem(read_pickle(bytes_of(bytes), document)) {}
  json value() const { return as_json(document, document.root()); }
  Document document;
  std::optional<PickleProblem> problem;
};

// {'a': [1, 2.5, None, True, False], 'b': ('x', -3, 2**40, -2**40, 300, 70000), 'c': {}, 'd': 'ü'}, by
// CPython 3.11.
TEST(Pickle, IsReadAsPythonWritesIt) {
  using namespace std::string_view_literals;
  const std::string_view two =
      "\x80\x02}q\0(X\1\0\0\0aq\1]q\2(K\1G@\x04\0\0\0\0\0\0N\x88\x89"
      "eX\1\0\0\0bq\3(X\1\0\0\0xq\4J\xfd\xff\xff\xff\x8a\6\0\0\0\0\0\1\x8a\6\0\0\0\0\0\xffM,\1Jp\x11\1\0tq\5"
      "X\1\0\0\0cq\6}q\7X\1\0\0\0dq\x08X\2\0\0\0\xc3\xbcq\x09u."sv;
  const std::string_view five =
      "\x80\x05\x95\x52\0\0\0\0\0\0\0}\x94(\x8c\1a\x94]\x94(K\1G@\x04\0\0\0\0\0\0N\x88\x89"
      "e\x8c\1b\x94(\x8c\1x\x94J\xfd\xff\xff\xff\x8a\6\0\0\0\0\0\1\x8a\6\0\0\0\0\0\xffM,\1Jp\x11\1\0t\x94"
      "\x8c\1c\x94}\x94\x8c\1d\x94\x8c\2\xc3\xbc\x94u."sv;
  const json expected = {{"a", {1, 2.5, nullptr, true, false}},
                         {"b", {"x", -3, 1099511627776, -1099511627776, 300, 70000}},
                         {"c", json::object()},
                         {"d", "ü"}};
  for (const std::string_view bytes : {two, five}) {
    const Read read(bytes);
    EXPECT_FALSE(read.problem.has_value()) << read.problem->message;
    EXPECT_EQ(read.value(), expected);
  }
}

TEST(Pickle, ThatWouldRunCodeIsRefused) {
  const std::pair<const char*, std::string> attacks[] = {{"GLOBAL",
                                                          "\x80\x02"
                                                          "cposix\nsystem\n(X\x04" +
                                                              std::string(3, '\0') +
                                                              "true"
                                                              "tR."},
                                                         {"STACK_GLOBAL", std::string("\x80\x04\x8c\x05"
                                                                                      "posix\x8c\x06"
                                                                                      "system\x93.",
                                                                                      19)},
                                                         {"REDUCE", "\x80\x02NNR."},
                                                         {"BUILD", "\x80\x02NNb."},
                                                         {"INST", "\x80\x02(iposix\nsystem\n."},
                                                         {"OBJ", "\x80\x02(No."},
                                                         {"NEWOBJ", "\x80\x02NN\x81."},
                                                         {"NEWOBJ_EX", "\x80\x04NNN\x92."},
                                                         {"PERSID", "\x80\x02Pname\n."},
                                                         {"BINPERSID", "\x80\x02NQ."},
                                                         {"EXT", "\x80\x02\x82\x01."}};
  for (const auto& [opcode, bytes] : attacks) {
    const Read read(bytes);
    ASSERT_TRUE(read.problem.has_value()) << opcode;
    EXPECT_TRUE(read.problem->refused) << opcode;
    EXPECT_THAT(read.problem->message, HasSubstr(std::string("opcode ") + opcode + " would make Python"));
  }
}

TEST(Pickle, DamageIsSaidWithItsPlace) {
  const std::pair<std::string, const char*> cases[] = {
      {std::string("\x80\x02}q", 4), "byte 3: the pickle is cut: 1 bytes are missing"},
      {"\x80\x02N", "byte 3: the pickle is cut: it has no end"},
      {"\x80\x09N.", "byte 0: pickle protocol 9, which is newer than 5"},
      {"\x80\x02.", "byte 2: the pickle ends without a value"},
      {"\x80\x02\x85.", "byte 2: the stack is empty"},
      {"\x80\x02u.", "byte 2: there is no mark"},
      {"\x80\x02N(Ne.", "byte 5: items for what is no list and no dictionary"},
      {std::string("\x80\x02h\x07.", 5), "byte 2: nothing was remembered as 7"},
      {"\x80\x02\xfe.", "byte 2: unknown opcode 0xfe"}};
  for (const auto& [bytes, message] : cases) {
    const Read read(bytes);
    ASSERT_TRUE(read.problem.has_value()) << message;
    EXPECT_EQ(read.problem->message, message);
    EXPECT_FALSE(read.problem->refused);
  }
}

json random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random());
    case 3:
      return static_cast<std::int64_t>(random() % 100'000);
    case 4:
      return static_cast<double>(random() % 1000) / 8 + 0.0625;
    case 5:
      return std::string(random() % 5, static_cast<char>('a' + random() % 26));
    case 6: {
      json list = json::array();
      for (std::uint64_t i = random() % 5; i > 0; --i) list.push_back(random_value(random, depth - 1));
      return list;
    }
    default: {
      json dictionary = json::object();
      for (std::uint64_t i = random() % 5; i > 0; --i)
        dictionary["key" + std::to_string(random() % 9)] = random_value(random, depth - 1);
      return dictionary;
    }
  }
}

TEST(Pickle, HoldsWhatJsonHolds) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const json value = random_value(random, 5);
    const Read read(Pickler::pickle(value));
    ASSERT_FALSE(read.problem.has_value()) << read.problem->message;
    EXPECT_EQ(read.value(), value) << seed;
    Document from_json;
    EXPECT_EQ(read_json(value.dump(), from_json), std::nullopt);
    EXPECT_EQ(as_json(from_json, from_json.root()), value) << seed;
  }
}

// Whether `part` is `whole` with something left out at its end, at every level.
bool is_beginning_of(const json& part, const json& whole) {
  if (part.is_array() && whole.is_array()) {
    if (part.size() > whole.size()) return false;
    for (std::size_t i = 0; i < part.size(); ++i)
      if (!is_beginning_of(part[i], whole[i])) return false;
    return true;
  }
  if (part.is_object() && whole.is_object()) {
    for (const auto& [key, value] : part.items())
      if (!whole.contains(key) || !is_beginning_of(value, whole[key])) return false;
    return true;
  }
  return part == whole;
}

TEST(Pickle, CutAnywhereKeepsWhatStandsBefore) {
  json whole = {{"entries", json::array()}, {"version", "2.9"}};
  for (int i = 0; i < 20; ++i)
    whole["entries"].push_back({{"number", i * 1000}, {"sizes", {{4, 5}, {i}}}, {"name", "all_reduce"}});
  const std::string bytes = Pickler::pickle(whole);
  for (std::size_t size = 3; size < bytes.size(); ++size) {
    const Read read(std::string_view(bytes).substr(0, size));
    ASSERT_TRUE(read.problem.has_value()) << size;
    EXPECT_FALSE(read.problem->refused);
    EXPECT_TRUE(is_beginning_of(read.value(), whole)) << size << ": " << read.value();
  }
  const Read most(std::string_view(bytes).substr(0, bytes.size() - 30));
  EXPECT_GE(most.value()["entries"].size(), 19U);
}

TEST(Pickle, MutationsAreReadOrRefused) {
  json value = {{"entries", json::array()}, {"pg_config", {{"0", {{"ranks", "[0, 1]"}}}}}};
  for (int i = 0; i < 8; ++i)
    value["entries"].push_back({{"number", i * 1000}, {"sizes", {{4, 5}, {i}}}, {"name", "all_reduce"}});
  const std::string bytes = Pickler::pickle(value);
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string mutated = bytes;
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes)
      mutated[random() % mutated.size()] = static_cast<char>(random());
    const Read read(mutated);
    EXPECT_LT(read.document.size(), 4 * mutated.size());
  }
}

// Lists that hold the last list twice: 2⁴⁰ elements to who copies them.
TEST(Pickle, SharedValuesAreNotMultiplied) {
  std::string bytes = "\x80\x02]";
  bytes += std::string("q\0", 2);
  for (int i = 0; i < 40; ++i) {
    const char last = static_cast<char>(i);
    bytes += "](h";
    bytes += last;
    bytes += 'h';
    bytes += last;
    bytes += "eq";
    bytes += static_cast<char>(i + 1);
  }
  const Read read(bytes + ".");
  EXPECT_FALSE(read.problem.has_value());
  EXPECT_EQ(read.document.items(read.document.root()).size(), 2U);
  EXPECT_LT(read.document.size(), 100U);
}

TEST(Json, CutAnywhereKeepsWhatStandsBefore) {
  const json whole = {{"entries", {{{"number", 1000}}, {{"number", 2.25}}}}, {"version", "2.9"}};
  const std::string text = whole.dump();
  for (std::size_t size = 1; size < text.size(); ++size) {
    Document document;
    EXPECT_THAT(read_json(text.substr(0, size), document).value_or(""), HasSubstr("cut or damaged"));
    EXPECT_TRUE(is_beginning_of(as_json(document, document.root()), whole)) << size;
  }
}

// {'version': …}, {}, [] and [1] by CPython 3.11, protocols 0 and 1.
TEST(Pickle, OldProtocolsAreTold) {
  using namespace std::string_view_literals;
  for (const std::string_view bytes : {"(dp0\nVversion\np1\n"sv, "(dp0\n."sv, "(lp0\nI1\na."sv,
                                       "}q\0(X\7\0\0\0version"sv, "}q\0."sv, "]q\0K\1a."sv}) {
    EXPECT_TRUE(looks_like_old_pickle(bytes_of(bytes)));
    EXPECT_FALSE(looks_like_pickle(bytes_of(bytes)));
  }
  for (const std::string_view bytes :
       {""sv, "("sv, "{}"sv, "[1]"sv, "(hello)"sv, "}"sv, "]q"sv, "\x80\2}q\0."sv})
    EXPECT_FALSE(looks_like_old_pickle(bytes_of(bytes)));
}

}  // namespace
}  // namespace lockstep::analyzer::flight_recorder
