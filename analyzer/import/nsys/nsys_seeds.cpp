// Writes the seeds of the fuzzer of Nsight Systems' exports into a folder: small valid ones. Deterministic.
//
//   nsys_fuzzer_seeds FOLDER
#include <sqlite3.h>
#include <stdio.h>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

bool write_nsys(const fs::path& path, const char* page_size, bool with_ranges) {
  std::error_code ignored;
  fs::remove(path, ignored);
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) return false;
  std::string sql = std::string("PRAGMA page_size = ") + page_size + ";" + R"(
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (3, 'cudaLaunchKernel'), (4, 'step');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
  globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 0, 1, 7, 1, 281474993487872, 1, 1, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (150, 400, 0, 1, 9, 2, 281474993487872, 2, 2, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (120, 401, 1, 1, 9, 2, 281475010265088, 2, 2, 5);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (80, 95, 281474993487873, 1, 3), (96, 99, 281474993487873, 2, 3);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (410, 420, 0, 7, 3, 281474993487872, 4096, 1);
)";
  if (with_ranges)
    sql += R"(
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER,
  uint64Value INTEGER, int64Value INTEGER);
INSERT INTO NVTX_EVENTS VALUES (50, 450, 59, 'ncclAllReduce', 281474993487873, NULL, NULL, NULL), (50, 460, 59, NULL, 281474993487873, 4, 3, NULL);
)";
  const bool done = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(database);
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const fs::path folder = argv[1];
  return write_nsys(folder / "plain.sqlite", "512", false) &&
                 write_nsys(folder / "ranges.sqlite", "1024", true)
             ? 0
             : 1;
}
