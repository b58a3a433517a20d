#include "analyzer/import/kineto/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::analyzer::kineto {
namespace {

TEST(ValueEnd, FindsTheEndOfEachKindOfValue) {
  EXPECT_EQ(value_end("\"ab\",", 0), 4u);
  EXPECT_EQ(value_end(R"("a\"b\\",)", 0), 8u);
  EXPECT_EQ(value_end("12.5e3]", 0), 6u);
  EXPECT_EQ(value_end("true}", 0), 4u);
  EXPECT_EQ(value_end("{}", 0), 2u);
  EXPECT_EQ(value_end(R"({"a": "}]{[", "b": [{}, {}]} , 7)", 0), 28u);
  EXPECT_EQ(value_end("[[],[[]]]x", 0), 9u);
}

TEST(ValueEnd, SaysWhenTheTextEndsWithin) {
  const std::string text = R"({"a": "x\"y", "b": [1, {"c": null}]})";
  for (std::size_t cut = 0; cut < text.size(); ++cut)
    EXPECT_EQ(value_end(text.substr(0, cut), 0), kIncomplete) << cut;
  EXPECT_EQ(value_end(text, 0), text.size());
  EXPECT_EQ(value_end("12", 0), kIncomplete);  // could go on
}

TEST(LastObjectBoundary, IsBehindTheLastObjectThatAnotherFollows) {
  EXPECT_EQ(last_object_boundary(R"({"a":1},{"b":2},{"c)"), 15u);
  EXPECT_EQ(last_object_boundary("{} \n , \t {"), 2u);
  EXPECT_EQ(last_object_boundary(R"({"a":1},{"b":[{)"), 7u);  // "[{" is none
  EXPECT_EQ(last_object_boundary(R"({"a":1})"), std::string::npos);
  EXPECT_EQ(last_object_boundary(""), std::string::npos);
  EXPECT_EQ(last_object_boundary("{"), std::string::npos);
  EXPECT_EQ(last_object_boundary(",{"), std::string::npos);
}

std::pair<std::string, std::size_t> repaired(std::string text) {
  const std::size_t count = repair_text(text.data(), text.size());
  return {text, count};
}

TEST(RepairText, ReplacesBytesThatAreNoUtf8) {
  using P = std::pair<std::string, std::size_t>;
  EXPECT_EQ(repaired("{\"a\":\"h\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"}"),
            P("{\"a\":\"h\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"}", 0));
  EXPECT_EQ(repaired("\"\xC3\""), P("\"?\"", 1));                 // cut
  EXPECT_EQ(repaired("\"\x80\xFF\""), P("\"??\"", 2));            // stray, impossible
  EXPECT_EQ(repaired("\"\xC0\xAF\""), P("\"??\"", 2));            // overlong
  EXPECT_EQ(repaired("\"\xED\xA0\x80\""), P("\"???\"", 3));       // surrogate
  EXPECT_EQ(repaired("\"\xF4\x90\x80\x80\""), P("\"????\"", 4));  // beyond U+10FFFF
  EXPECT_EQ(repaired("\"\xE0\x80\x80\""), P("\"???\"", 3));       // overlong
}

TEST(RepairText, ReplacesControlCharactersInStringsOnly) {
  using P = std::pair<std::string, std::size_t>;
  EXPECT_EQ(repaired("{\n\t\"a\nb\\\"\tc\" : 1}\n"), P("{\n\t\"a b\\\" c\" : 1}\n", 2));
}

TEST(Unescape, GivesTheText) {
  EXPECT_EQ(unescape("plain"), "plain");
  EXPECT_EQ(unescape(R"(a\"b\\c\/\n\t\u00e9\ud83d\ude00)"), "a\"b\\c/\n\t\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(unescape(R"(C:\Users)"), R"(C:\Users)");  // no JSON escape: kept as it stands
  EXPECT_EQ(unescape(R"(\ud800)"), R"(\ud800)");
}

}  // namespace
}  // namespace lockstep::analyzer::kineto
