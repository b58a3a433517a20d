// A push and its pop that are consumed in one go make what they make one by one; and the cache of names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/reader.h"
#include "tracer/inject/sources/nvtx/event_builder.h"
#include "tracer/inject/sources/nvtx/name_cache.h"

namespace lockstep::tracer::nvtx {
namespace {

std::vector<std::byte> padded(const std::string& text, std::byte filling) {
  std::vector<std::byte> bytes(round_up_to_unit(static_cast<std::uint32_t>(text.size())), filling);
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::vector<std::byte> record(RecordKind kind, std::uint8_t flags, std::uint16_t domain,
                              const std::vector<std::byte>& body, std::uint32_t message_bytes) {
  std::vector<std::byte> bytes(sizeof(RecordHeader) + body.size());
  write_header(bytes.data(), static_cast<std::uint32_t>(bytes.size()), kind, flags, domain, message_bytes, 0);
  if (!body.empty()) std::memcpy(bytes.data() + sizeof(RecordHeader), body.data(), body.size());
  return bytes;
}

// Each push of `pushes` with its pop, within two ranges that stay open longer; times count up.
struct Consumed {
  std::vector<std::string> texts;  // name and domain of each range
  std::vector<trace::HostRange> ranges;
  std::size_t leaves = 0;
};
Consumed consume(Registry& registry, const std::vector<std::vector<std::byte>>& pushes, bool at_once) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "test.lst";
  trace::Writer writer = trace::Writer::create(path.c_str()).value();
  EventBuilder builder(writer, registry, 100);
  EventBuilder::Thread& thread = builder.add_thread(101, "worker");
  Consumed consumed;
  trace::Nanoseconds time = 0;
  const std::vector<std::byte> outer = record(RecordKind::push, 0, 0, padded("outer", {}), 5);
  const std::vector<std::byte> outer_pop = record(RecordKind::pop, 0, 0, {}, 0);
  builder.consume(thread, outer.data(), ++time);
  builder.consume(thread, outer.data(), ++time);
  for (const std::vector<std::byte>& push : pushes) {
    RecordHeader header;
    std::memcpy(&header, push.data(), sizeof header);
    const std::vector<std::byte> pop = record(RecordKind::pop, 0, header.domain, {}, 0);
    const trace::Nanoseconds begin = time += 10;
    const trace::Nanoseconds end = time += 7;
    if (at_once && builder.consume_leaf(thread, push.data(), begin, end)) {
      ++consumed.leaves;
      continue;
    }
    builder.consume(thread, push.data(), begin);
    builder.consume(thread, pop.data(), end);
  }
  builder.consume(thread, outer_pop.data(), ++time);
  builder.consume(thread, outer_pop.data(), ++time);
  builder.finish(++time);
  EXPECT_TRUE(writer.close().ok());
  const trace::Reader reader = trace::Reader::open(path).value();
  EXPECT_TRUE(reader.read<trace::HostRange>({}, consumed.ranges).ok());
  for (trace::HostRange& range : consumed.ranges) {
    consumed.texts.push_back(std::string(reader.string(range.name)) + " in " +
                             std::string(reader.string(range.domain)));
    range.name = range.domain = range.category = 0;  // the numbers may differ
  }
  return consumed;
}

TEST(Leaf, IsWhatItsPushAndItsPopMake) {
  Registry registry;
  const std::uint16_t other = registry.domain("other");
  const std::uint16_t lockstep = registry.domain("lockstep");
  const std::uint64_t handle = registry.string("registered");
  const auto plain = [](const std::string& text, std::uint16_t domain) {
    return record(RecordKind::push, 0, domain, padded(text, std::byte{0x5A}),
                  static_cast<std::uint32_t>(text.size()));
  };
  std::vector<std::byte> handle_body(kRecordUnit);
  std::memcpy(handle_body.data(), &handle, sizeof handle);
  std::vector<std::byte> style_body(sizeof(Style));
  const Style style{0, 0xFF00FF00U, 0};
  std::memcpy(style_body.data(), &style, sizeof style);
  const std::vector<std::vector<std::byte>> pushes{
      plain("work", 0),
      plain("work", other),
      plain("", 0),
      plain("work", 0),
      plain(std::string(500, 'x'), 0),
      record(RecordKind::push, record_flags::kRegistered, 0, handle_body, 8),
      record(RecordKind::push, record_flags::kStyle, 0, style_body, 0),
      plain("in our own domain", lockstep),
  };
  const Consumed one_by_one = consume(registry, pushes, false);
  const Consumed at_once = consume(registry, pushes, true);
  EXPECT_EQ(at_once.ranges, one_by_one.ranges);
  EXPECT_EQ(at_once.texts, one_by_one.texts);
  ASSERT_EQ(one_by_one.ranges.size(), pushes.size() + 2);
  EXPECT_EQ(one_by_one.ranges[0].depth, 2);
  EXPECT_EQ(one_by_one.texts[1], "work in other");
  EXPECT_EQ(one_by_one.texts[5], "registered in ");
  EXPECT_EQ(one_by_one.leaves, 0U);
  EXPECT_EQ(at_once.leaves, pushes.size() - 2);  // what has a style, or a meaning, is read whole
}

TEST(NameCache, FindsNothingButWhatWasKeptLast) {
  std::mt19937 random(11);
  NameCache cache;
  std::map<std::string, trace::StringId> ids;
  trace::StringId next = 1;
  std::size_t found = 0;
  for (int i = 0; i < 20000; ++i) {
    // Few different texts, which differ at the front, in the middle or at the end.
    std::string text = "layer." + std::string(random() % 55, 'x') + std::to_string(random() % 3);
    if (random() % 4 == 0) text[random() % text.size()] = static_cast<char>('a' + random() % 2);
    if (random() % 50 == 0) text.resize(random() % 9);
    const std::vector<std::byte> bytes = padded(text, static_cast<std::byte>(random()));
    const auto size = static_cast<std::uint32_t>(text.size());
    const trace::StringId id = cache.find(bytes.data(), size);
    const auto [known, is_new] = ids.try_emplace(text, next);
    if (is_new) ++next;
    if (id != 0) {
      ++found;
      ASSERT_EQ(id, known->second) << text;
      ASSERT_LE(size, NameCache::kLongest);
    }
    cache.keep(bytes.data(), size, known->second);
    if (size > 0 && size <= NameCache::kLongest) {
      ASSERT_EQ(cache.find(bytes.data(), size), known->second) << text;
    }
  }
  EXPECT_GT(found, 5000U);
}

}  // namespace
}  // namespace lockstep::tracer::nvtx
