// For this folder's tests: a report as nsys exports it, as far as a test needs one.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace lockstep::analyzer::nsys {

class ReportFile {
 public:
  explicit ReportFile(const std::string& path) : path_(path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
    run("PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY;CREATE TABLE META_DATA_EXPORT (name TEXT, value "
        "TEXT);CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);");
  }
  ~ReportFile() { close(); }
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  void close() {
    sqlite3_close(database_);
    database_ = nullptr;
  }
  void run(const std::string& sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message << sql;
    sqlite3_free(message);
  }
  // The tables of a report with CUDA and NVTX; the columns are those of 2026.2 that matter.
  void add_tables() {
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId "
        "INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, "
        "globalPid INTEGER, demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER);CREATE TABLE "
        "CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
        "correlationId INTEGER, nameId INTEGER, returnValue INTEGER);CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY "
        "(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId "
        "INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);CREATE TABLE "
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId "
        "INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER);CREATE TABLE "
        "NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId "
        "INTEGER, uint64Value INTEGER, int64Value INTEGER);CREATE TABLE ThreadNames (nameId INTEGER, "
        "priority INTEGER, globalTid INTEGER);");
  }
  std::int64_t string(const std::string& text) {
    run("INSERT INTO StringIds VALUES (" + std::to_string(++strings_) + ", '" + text + "')");
    return strings_;
  }
  static std::int64_t process(int pid) { return (std::int64_t{1} << 48) | (std::int64_t{pid} << 24); }
  void kernel(std::int64_t begin, std::int64_t end, int pid, int device, int stream, int correlation,
              const std::string& name) {
    const std::string id = std::to_string(string(name));
    run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + numbers({begin, end, device, 1}) + ", NULL, " +
        numbers({stream, correlation, process(pid)}) + ", " + id + ", " + id + ", NULL)");
  }
  void launch(std::int64_t begin, std::int64_t end, int pid, int thread, int correlation,
              const std::string& name = "cudaLaunchKernel_v7000") {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" +
        numbers({begin, end, 0, process(pid) | thread, correlation, string(name), 0}) + ")");
  }
  void range(std::int64_t begin, std::int64_t end, int pid, int thread, const std::string& name,
             const std::string& payload = "NULL") {
    run("INSERT INTO NVTX_EVENTS VALUES (" + numbers({begin, end, 59}) + ", '" + name + "', " +
        numbers({process(pid) | thread}) + ", NULL, " + payload + ", NULL)");
  }

 private:
  static std::string numbers(std::initializer_list<std::int64_t> list) {
    std::string text;
    for (const std::int64_t number : list) text += (text.empty() ? "" : ", ") + std::to_string(number);
    return text;
  }

  std::string path_;
  sqlite3* database_ = nullptr;
  std::int64_t strings_ = 0;
};

}  // namespace lockstep::analyzer::nsys
