#include "analyzer/import/kineto/event_stream.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::kineto {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

// Keeps each event's "n" and each member as text.
class Recorder : public EventSink {
 public:
  simdjson::error_code event(simdjson::ondemand::object& object, bool& whole) override {
    std::string number = "none";
    for (auto field : object) {
      simdjson::ondemand::raw_json_string key;
      if (const auto error = field.key().get(key)) return error;
      if (key == "n") number = std::string(std::string_view(field.value().raw_json_token()));
      if (const auto error = field.error()) return error;
    }
    whole = true;
    while (!number.empty() && number.back() <= ' ') number.pop_back();
    events.push_back(number);
    return simdjson::SUCCESS;
  }
  void member(std::string_view key, std::string_view json) override { members[std::string(key)] = json; }

  std::vector<std::string> events;
  std::map<std::string, std::string> members;
};

struct Streamed {
  StreamSummary summary;
  std::vector<std::string> events;
  std::map<std::string, std::string> members;
};

Streamed stream(std::string_view content, std::size_t window = 256) {
  const TemporaryFolder folder;
  ByteSource source = must(ByteSource::open(folder.write("t.json", content)));
  Recorder recorder;
  StreamOptions options;
  options.window = window;
  Streamed result;
  result.summary = stream_events(source, recorder, options);
  result.events = std::move(recorder.events);
  result.members = std::move(recorder.members);
  return result;
}

std::vector<std::string> numbers(int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(std::to_string(i));
  return out;
}

TEST(EventStream, ReadsMembersOnBothSides) {
  const Streamed result =
      stream(R"({"a": {"b": [1, 2]}, "traceEvents": [{"n": 0}, {"n": 1}], "c": "]}", "d": 7})");
  EXPECT_EQ(result.events, numbers(2));
  EXPECT_EQ(result.members,
            (std::map<std::string, std::string>{{"a", R"({"b": [1, 2]})"}, {"c", R"("]}")"}, {"d", "7"}}));
  EXPECT_EQ(result.summary.problem, "");
  EXPECT_EQ(result.summary.events, 2u);
}

TEST(EventStream, ReadsABareArrayAndAByteOrderMark) {
  EXPECT_EQ(stream("\xEF\xBB\xBF [ {\"n\": 0} , {\"n\":1} ] ").events, numbers(2));
  EXPECT_EQ(stream("[]").summary.problem, "");
  EXPECT_TRUE(stream("[]").summary.has_events);
}

// Names that look like boundaries, nested arrays of objects, escapes; every window size moves the cuts.
TEST(EventStream, GivesEachEventOnceForEveryWindowSize) {
  std::string text = R"({"first": [{"x": 1}, {"y": 2}], "traceEvents": [)";
  const char* const variants[] = {
      R"(, "name": "a}, {\"n\": 99")", R"(, "args": {"l": [{"p": 1}, {"q": [{}, {}]}]})",
      R"(, "name": "\\\"")",           "",
      "\n  , \"k\" :\t[ ] ",           R"(, "deep": [[[[{"a": {}}, {"b": {}}]]]])"};
  constexpr int kEvents = 120;
  for (int i = 0; i < kEvents; ++i) {
    text += i == 0 ? "" : (i % 3 == 0 ? "," : " ,\n  ");
    text += R"({"n": )" + std::to_string(i) + variants[i % 6] + "}";
  }
  text += R"(], "last": [{"n": 1000}, {"n": 1001}, {"n": 1002}]})";
  for (std::size_t window = 64; window < 700; window += 13) {
    const Streamed result = stream(text, window);
    ASSERT_THAT(result.events, ElementsAreArray(numbers(kEvents))) << window;
    ASSERT_EQ(result.summary.problem, "") << window;
    ASSERT_EQ(result.summary.unreadable, 0u);
    ASSERT_EQ(result.members.size(), 2u);
  }
}

// A sink that leaves each second event at once: none of its events comes late, twice or never.
class Leaver : public Recorder {
 public:
  simdjson::error_code event(simdjson::ondemand::object& object, bool& whole) override {
    std::int64_t number = 0;
    if (const auto error = object["n"].get(number)) return error;
    if (number % 2 == 1) {
      whole = false;
      return simdjson::SUCCESS;
    }
    return object.reset().error() != simdjson::SUCCESS ? simdjson::TAPE_ERROR
                                                       : Recorder::event(object, whole);
  }
};

TEST(EventStream, EventsThatAreLeftEarlyAreSkippedWhole) {
  const TemporaryFolder folder;
  std::string text = "[";
  std::vector<std::string> even;
  for (int i = 0; i < 90; ++i) {
    text +=
        fmt::format(R"({}{{"n": {}, "args": [{{"a": 1}}, {{"b": "}}, {{"}}, {{}}]}})", i == 0 ? "" : ", ", i);
    if (i % 2 == 0) even.push_back(std::to_string(i));
  }
  text += "]";
  const std::string path = folder.write("t.json", text);
  for (std::size_t window = 64; window < 500; window += 7) {
    ByteSource source = must(ByteSource::open(path));
    Leaver leaver;
    StreamOptions options;
    options.window = window;
    const StreamSummary summary = stream_events(source, leaver, options);
    ASSERT_THAT(leaver.events, ElementsAreArray(even)) << window;
    ASSERT_EQ(summary.events, 90u) << window;
    ASSERT_EQ(summary.unreadable, 0u) << window;
  }
}

TEST(EventStream, CutAnywhereItKeepsWhatIsWhole) {
  const std::string head = R"({"x": 1, "traceEvents": [)";
  std::string text = head;
  std::vector<std::size_t> ends;
  for (int i = 0; i < 12; ++i) {
    text += std::string(i == 0 ? "" : ", ") + R"({"n": )" + std::to_string(i) + R"(, "s": "}, {"})";
    ends.push_back(text.size());
  }
  text += R"(], "y": 2})";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const Streamed result = stream(text.substr(0, cut), 64);
    int whole = 0;
    while (whole < 12 && ends[static_cast<std::size_t>(whole)] <= cut) ++whole;
    ASSERT_EQ(result.events, numbers(whole)) << cut;
    ASSERT_EQ(result.summary.has_events, cut >= head.size()) << cut;
    ASSERT_THAT(result.summary.problem,
                HasSubstr("ends in the middle of the JSON, at byte " + std::to_string(cut)));
  }
}

TEST(EventStream, OneBrokenEventCostsOneEvent) {
  const Streamed result =
      stream(R"({"traceEvents": [{"n": 0}, {"n" 1}, {"n": 2}, 7, "text", null, [{"n": 5}], {"n": 3}]})");
  EXPECT_THAT(result.events, ElementsAre("0", "2", "3"));
  EXPECT_EQ(result.summary.unreadable, 5u);
  EXPECT_EQ(result.summary.problem, "");
}

TEST(EventStream, RepairsTextThatIsNoUtf8) {
  const Streamed result =
      stream("[{\"n\": 0, \"name\": \"a\xFF\"}, {\"n\": 1, \"name\": \"a\nb\"}, {\"n\": 2}]");
  EXPECT_EQ(result.events, numbers(3));
  EXPECT_EQ(result.summary.repaired_bytes, 2u);
  EXPECT_EQ(result.summary.unreadable, 0u);
}

TEST(EventStream, SaysWhatIsWrongAndWhere) {
  EXPECT_TRUE(stream("").summary.empty);
  EXPECT_TRUE(stream(" \n ").summary.empty);
  EXPECT_EQ(stream("hello").summary.problem, "byte 0 is 'h', expected '{' or '['");
  EXPECT_EQ(stream(R"({"a": 1 "b": 2})").summary.problem, "byte 8 is '\"', expected ',' or '}'");
  EXPECT_EQ(stream(R"({a: 1})").summary.problem, "byte 1 is 'a', expected a key in quotes");
  EXPECT_EQ(stream(R"({"a" 1})").summary.problem, "byte 5 is '1', expected ':'");
  EXPECT_EQ(stream(R"({"traceEvents": []} x)").summary.problem,
            "other bytes stand behind the JSON, from byte 20 on");
  EXPECT_EQ(stream(R"({"traceEvents": [{"n": 0}}])").summary.problem, "byte 25 is '}', expected an event");
  EXPECT_EQ(stream(R"({"traceEvents": {"n": 0}})").members.at("traceEvents"), R"({"n": 0})");
  EXPECT_FALSE(stream(R"({"traceEvents": {"n": 0}})").summary.has_events);
}

TEST(EventStream, AnEventLongerThanTheWindowIsRead) {
  const std::string text = R"([{"n": 0, "name": ")" + std::string(100'000, 'x') + R"("}, {"n": 1}])";
  EXPECT_EQ(stream(text, 64).events, numbers(2));
}

TEST(EventStream, AnEventBeyondTheLimitEndsReading) {
  const TemporaryFolder folder;
  ByteSource source = must(ByteSource::open(folder.write(
      "t.json", R"([{"n": 0}, {"n": 1, "name": ")" + std::string(100'000, 'x') + R"("}, {"n": 2}])")));
  Recorder recorder;
  const StreamSummary summary =
      stream_events(source, recorder, {.window = 256, .longest_element = 1000, .progress = {}});
  EXPECT_THAT(recorder.events, ElementsAre("0"));
  EXPECT_THAT(summary.problem, HasSubstr("the value at byte 11 is longer than"));
}

TEST(EventStream, NestingOfAnyDepthIsSkipped) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(stream(R"([{"n": 0, "args": )" + deep + R"(}, {"n": 1}])", 256).events, numbers(2));
  const std::string open(100'000, '{');
  EXPECT_THAT(stream("[" + open, 256).summary.problem, HasSubstr("ends in the middle"));
}

TEST(EventStream, ReadsGzipAndItsMembers) {
  const TemporaryFolder folder;
  const std::string text = R"({"traceEvents": [{"n": 0}, {"n": 1}, {"n": 2}]})";
  const auto read = [&](const std::string& content) {
    ByteSource source = must(ByteSource::open(folder.write("t.json.gz", content)));
    Recorder recorder;
    Streamed result;
    result.summary = stream_events(source, recorder, {});
    result.events = recorder.events;
    return result;
  };
  EXPECT_EQ(read(gzip(text)).events, numbers(3));
  EXPECT_EQ(read(gzip(text)).summary.problem, "");
  EXPECT_EQ(read(gzip(text.substr(0, 20)) + gzip(text.substr(20))).events, numbers(3));
  EXPECT_EQ(read(gzip(text) + std::string(512, '\0')).summary.problem, "");  // padded
  EXPECT_THAT(read(gzip(text) + "garbage").summary.problem,
              HasSubstr("other bytes stand behind the gzip data"));
}

TEST(EventStream, GzipCutAnywhereKeepsWhatInflates) {
  const TemporaryFolder folder;
  std::string text = R"({"traceEvents": [)";
  for (int i = 0; i < 300; ++i)
    text += std::string(i == 0 ? "" : ",") + R"({"n": )" + std::to_string(i) + "}";
  const std::string whole = gzip(text + "]}");
  std::size_t last = 0;
  for (std::size_t cut = 2; cut < whole.size(); cut += 5) {
    ByteSource source = must(ByteSource::open(folder.write("t.gz", whole.substr(0, cut))));
    Recorder recorder;
    const StreamSummary summary = stream_events(source, recorder, {});
    ASSERT_THAT(summary.problem, HasSubstr("the gzip data is cut short")) << cut;
    ASSERT_EQ(recorder.events, numbers(static_cast<int>(recorder.events.size())));
    ASSERT_GE(recorder.events.size(), last);  // more bytes never give fewer events
    last = recorder.events.size();
  }
  EXPECT_EQ(last, 300u);  // the last bytes are the checksum
}

TEST(EventStream, DamagedGzipSaysWhere) {
  const TemporaryFolder folder;
  std::string bytes = gzip(R"({"traceEvents": [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 123456789}]})");
  bytes[bytes.size() - 6] ^= 0x55;  // within the checksum
  ByteSource source = must(ByteSource::open(folder.write("t.gz", bytes)));
  Recorder recorder;
  const StreamSummary summary = stream_events(source, recorder, {});
  EXPECT_EQ(recorder.events.size(), 4u);
  EXPECT_THAT(summary.problem, HasSubstr("the gzip data is damaged near byte"));
}

TEST(ByteSource, NamesWhatCantBeRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(ByteSource::open(folder / "absent").error().message, HasSubstr("No such file"));
  EXPECT_THAT(ByteSource::open(folder.path()).error().message, HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace lockstep::analyzer::kineto
