#include "analyzer/import/flight_recorder/dump.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/import/rank/names.h"
#include "base/numbers.h"

namespace lockstep::analyzer::flight_recorder {
namespace {

using Id = Document::Id;

// Tensors of one operation, and dimensions of one tensor, that are looked at.
constexpr std::size_t kMaxTensors = 1024;
constexpr std::size_t kMaxDimensions = 16;
// Of a name; one has some fifty bytes.
constexpr std::size_t kLongestName = 512;
// PyTorch keeps 2,000 entries by default, and asks for some 1,000 looks at fields each.
constexpr std::size_t kMaxEntries = std::size_t{1} << 18U;
// Of the ranks of all groups, as text: a group of 100,000 ranks has 700 KB.
constexpr std::size_t kMaxOfRanks = std::size_t{64} << 20U;
constexpr std::uint64_t kMaxLooks = std::uint64_t{1} << 29U;

class Record {
 public:
  Record(const Document& document, Id id) : document_(document), id_(id) {}

  std::optional<std::int64_t> integer(std::string_view key) const {
    const std::optional<Id> value = document_.find(id_, key);
    return value ? document_.integer(*value) : std::nullopt;
  }
  // 0 stands for "not yet" in JSON.
  std::optional<std::int64_t> time(std::string_view key) const {
    const std::optional<std::int64_t> value = integer(key);
    return value && *value > 0 ? value : std::nullopt;
  }
  std::string text(std::string_view key) const {
    const std::optional<Id> value = document_.find(id_, key);
    return std::string(value ? name(*value) : "");
  }
  std::string_view name(Id value) const { return document_.text(value).value_or("").substr(0, kLongestName); }
  std::optional<bool> boolean(std::string_view key) const {
    const std::optional<Id> value = document_.find(id_, key);
    return value ? document_.boolean(*value) : std::nullopt;
  }
  std::span<const Id> items(std::string_view key) const {
    const std::optional<Id> value = document_.find(id_, key);
    return value ? document_.items(*value) : std::span<const Id>{};
  }

 private:
  const Document& document_;
  Id id_;
};

// Bytes of all tensors of a side; -1 where a shape or the element's type is not known.
std::int64_t bytes_of(const Document& document, std::span<const Id> shapes, trace::DataType type) {
  const std::int64_t width = trace::size_in_bytes(type);
  if (width == 0 || shapes.size() > kMaxTensors) return -1;
  std::int64_t sum = 0;
  for (const Id shape : shapes) {
    const std::span<const Id> dimensions = document.items(shape);
    if (dimensions.size() > kMaxDimensions) return -1;
    std::int64_t bytes = width;
    for (const Id dimension : dimensions) {
      const std::optional<std::int64_t> size = document.integer(dimension);
      if (!size || *size < 0 || __builtin_mul_overflow(bytes, *size, &bytes)) return -1;
    }
    if (__builtin_add_overflow(sum, bytes, &sum)) return -1;
  }
  return sum;
}

trace::DataType first_type(const Document& document, std::span<const Id> types) {
  return types.empty() ? trace::DataType::unknown : data_type_of(document.text(types.front()).value_or(""));
}

// The innermost frame that is not PyTorch's own; the innermost of all if there is no other.
std::string place_of(const Document& document, std::span<const Id> frames) {
  constexpr std::size_t kMaxFrames = 256;
  const auto in_words = [&](Id frame) {
    const Record record(document, frame);
    return fmt::format("{}:{} in {}", record.text("filename"), record.integer("line").value_or(0),
                       record.text("name"));
  };
  std::optional<Id> innermost;
  for (const Id frame : frames.first(std::min(frames.size(), kMaxFrames))) {
    const std::string file = Record(document, frame).text("filename");
    if (file.empty()) continue;
    if (!innermost) innermost = frame;
    if (file.find("/torch/") == std::string::npos && file.find("site-packages") == std::string::npos)
      return in_words(frame);
  }
  return innermost ? in_words(*innermost) : "";
}

Entry read_entry(const Document& document, Id id) {
  const Record record(document, id);
  Entry entry;
  entry.name = record.text("profiling_name");
  entry.group_id = record.integer("pg_id").value_or(-1);
  // [name, description]; before 2.0 one text.
  const std::span<const Id> group = record.items("process_group");
  if (!group.empty()) entry.group = record.name(group[0]);
  if (group.size() > 1) entry.group_description = record.name(group[1]);
  if (group.empty()) entry.group = record.text("process_group");
  entry.is_message = record.boolean("is_p2p").value_or(is_point_to_point(operation_in_name(entry.name)));
  const auto collective =
      record.integer("collective_seq_id") ? record.integer("collective_seq_id") : record.integer("seq_id");
  entry.sequence =
      (entry.is_message ? record.integer("p2p_seq_id") : collective).value_or(trace::kNoSequence);
  const std::string state = record.text("state");
  entry.state = state == "completed" ? State::completed
                : state == "started" ? State::started
                                     : State::scheduled;
  entry.retired = record.boolean("retired").value_or(false);
  entry.created = record.time("time_created_ns").value_or(0);
  entry.started = record.time("time_discovered_started_ns");
  entry.completed = record.time("time_discovered_completed_ns");
  const trace::DataType input = first_type(document, record.items("input_dtypes"));
  const trace::DataType output = first_type(document, record.items("output_dtypes"));
  entry.data_type = input != trace::DataType::unknown ? input : output;
  entry.bytes = std::max(bytes_of(document, record.items("input_sizes"), input),
                         bytes_of(document, record.items("output_sizes"), output));
  entry.place = place_of(document, record.items("frames"));
  return entry;
}

// A key as the number that it is made of; -1 if it is none.
std::int64_t number_of(std::string_view text) {
  return parse_number<std::int64_t>(text, 0).value_or(-1);
}

// Empty, as if it were not known, where it has more than `left` characters.
std::string ranks_as_text(const Document& document, Id config, std::size_t left) {
  const std::optional<Id> ranks = document.find(config, "ranks");
  if (!ranks) return {};
  if (const std::optional<std::string_view> text = document.text(*ranks))
    return std::string(text->size() <= left ? *text : "");
  std::string text;
  for (const Id rank : document.items(*ranks)) {
    if (text.size() > left) return {};
    text += fmt::format("{}{}", text.empty() ? "" : ",", document.integer(rank).value_or(-1));
  }
  return text.size() <= left ? text : "";
}

std::vector<Group> read_groups(const Document& document, Id config) {
  std::vector<Group> groups;
  const std::span<const Id> entries = document.entries(config);
  std::vector<bool> seen(document.size(), false);
  std::size_t left = kMaxOfRanks;
  for (std::size_t i = 0; i + 1 < entries.size() && groups.size() < kMaxEntries; i += 2) {
    // No recorder writes one configuration for two groups.
    if (seen[entries[i + 1]] || document.looked_at() > kMaxLooks) continue;
    seen[entries[i + 1]] = true;
    const Record record(document, entries[i + 1]);
    const std::string key(record.name(entries[i]));
    const std::string name = record.text("name");
    groups.push_back(
        {name.empty() ? key : name, record.text("desc"), ranks_as_text(document, entries[i + 1], left)});
    left -= groups.back().ranks.size();
  }
  // Names count groups as they are made; the file has them in any order.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return number_of(a.name) < number_of(b.name); });
  return groups;
}

std::vector<GroupStatus> read_status(const Document& document, Id status) {
  std::vector<GroupStatus> all;
  const std::span<const Id> entries = document.entries(status);
  for (std::size_t i = 0; i + 1 < entries.size() && all.size() < kMaxEntries; i += 2) {
    const Record record(document, entries[i + 1]);
    // In JSON these numbers are texts.
    const auto number = [&](const char* key) {
      const std::optional<std::int64_t> plain = record.integer(key);
      return plain ? std::max<std::int64_t>(*plain, -1) : number_of(record.text(key));
    };
    all.push_back({number_of(document.text(entries[i]).value_or("")), number("last_enqueued_collective"),
                   number("last_completed_collective")});
  }
  std::sort(all.begin(), all.end(),
            [](const GroupStatus& a, const GroupStatus& b) { return a.group_id < b.group_id; });
  return all;
}

// All entries have the same last field; of the only entry nobody knows what it lacks.
bool is_whole(const Document& document, Id entry, Id first) {
  const std::span<const Id> fields = document.entries(first);
  if (entry == first || fields.size() < 2) return false;
  const std::optional<std::string_view> last = document.text(fields[fields.size() - 2]);
  return last && document.find(entry, *last).has_value();
}

}  // namespace

std::optional<Dump> read_dump(const Document& document, bool damaged) {
  const Id root = document.root();
  const std::optional<Id> entries = document.find(root, "entries");
  const std::optional<Id> groups = document.find(root, "pg_config");
  if (!entries && !groups) return std::nullopt;
  Dump dump;
  dump.version = Record(document, root).text("version");
  if (groups) dump.groups = read_groups(document, *groups);
  if (const std::optional<Id> status = document.find(root, "pg_status"))
    dump.status = read_status(document, *status);
  if (entries) {
    std::span<const Id> all = document.items(*entries);
    if (damaged && !all.empty() && !is_whole(document, all.back(), all.front()))
      all = all.first(all.size() - 1);
    std::vector<bool> seen(document.size(), false);
    for (const Id entry : all) {
      // What is written once stands for one record, however often it is named.
      const bool usable = document.kind(entry) == Document::Kind::dictionary && !seen[entry] &&
                          dump.entries.size() < kMaxEntries && document.looked_at() < kMaxLooks;
      seen[entry] = true;
      if (usable)
        dump.entries.push_back(read_entry(document, entry));
      else
        ++dump.unreadable;
    }
  }
  return dump;
}

}  // namespace lockstep::analyzer::flight_recorder
