// Writes the seeds of trace_reader_fuzzer into a folder: small trace files with every kind of chunk,
// compressed and not, with and without a footer. Deterministic.
#include <stdio.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "trace/file_surgery.h"
#include "trace/training_trace.h"
#include "trace/writer.h"

namespace lockstep::trace {
namespace {

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// A few events of each kind.
bool write_every_kind(const std::filesystem::path& path, bool closed) {
  WriterOptions options;
  options.exclusive = false;
  options.events_per_chunk = 4;
  Result<Writer> created = Writer::create(path.c_str(), options);
  if (!created.ok()) return false;
  Writer writer = std::move(created).value();
  TrainingTrace::describe(writer);
  writer.set_metadata("rank", "0");
  const std::vector<Argument> arguments = {{1, ArgumentType::int64, 5}, {2, ArgumentType::string, 3}};
  for (int i = 0; i < 6; ++i) {
    writer.append(HostRange{.begin = 100 * i, .end = 100 * i + 90, .name = 1},
                  i % 2 == 0 ? arguments : std::span<const Argument>());
    writer.append(OpenRange{.begin = 50 * i, .name = 2}, arguments);
    writer.append(Mark{.time = 10 * i, .name = 3}, arguments);
    writer.append(Counter{.lane = 3, .time = 7 * i, .value = 0.5 * i});
    writer.append(
        DeviceActivity{.lane = 1, .begin = 1000 * i, .end = 1000 * i + 300, .name = 9, .correlation = 5});
    writer.append(ApiCall{.begin = 1000 * i, .end = 1000 * i + 3, .name = 8, .correlation = 5});
    writer.append(
        Collective{.lane = 2, .begin = 999 * i, .end = 1000 * i, .name = 7, .group = 0, .sequence = i});
    writer.append(Step{.begin = 5000 * i, .end = 5000 * i + 4999, .number = i});
    writer.append(ClockSnapshot{.time = i});
    writer.append(Drop{.begin = i, .end = i + 1, .count = 3, .source = 1, .reason = 2});
    writer.append(CollectiveIssue{.begin = 900 * i, .end = 900 * i + 9, .group = 0, .sequence = i});
  }
  return closed ? writer.close().ok() : writer.flush().ok();
}

// The same file with its bodies uncompressed.
std::vector<std::byte> uncompressed(const std::filesystem::path& path, bool closed) {
  test::FileBuilder builder;
  for (const test::RawChunk& chunk : test::take_apart(read_file(path))) {
    if (chunk.header.kind != static_cast<std::uint8_t>(format::ChunkKind::index)) builder.add(chunk);
  }
  if (closed) builder.finish();
  return builder.bytes();
}

int run(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const bool closed : {false, true}) {
    const std::string name = closed ? "closed" : "open";
    const std::filesystem::path compressed = folder / ("every_kind_" + name);
    if (!write_every_kind(compressed, closed)) {
      fprintf(stderr, "cannot write '%s'\n", compressed.c_str());
      return 1;
    }
    const std::vector<std::byte> whole = uncompressed(compressed, closed);
    write_file(folder / ("uncompressed_" + name), whole);
    // One chunk a file: what a fuzzer combines best.
    std::size_t number = 0;
    for (const test::RawChunk& chunk : test::take_apart(whole)) {
      test::FileBuilder builder;
      builder.add(chunk);
      write_file(folder / ("chunk_" + name + "_" + std::to_string(number++)), builder.bytes());
    }
  }
  return 0;
}

}  // namespace
}  // namespace lockstep::trace

int main(int count, char** arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  return lockstep::trace::run(arguments[1]);
}
