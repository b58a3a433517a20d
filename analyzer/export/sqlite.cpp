// The SQLite export. Tables come from tables.h; names that repeat are stored once, in `names`, and views put
// them back.
#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "analyzer/export/export.h"
#include "analyzer/export/exporters.h"
#include "analyzer/export/tables.h"

namespace lockstep::analyzer {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

constexpr const char* kIndices =
    "CREATE INDEX activities_by_lane ON activities (rank, lane, begin_ns);CREATE INDEX activities_by_name ON "
    "activities (name_id);CREATE INDEX host_ranges_by_lane ON host_ranges (rank, lane, begin_ns);CREATE "
    "INDEX communications_by_collective ON communications (collective);CREATE INDEX "
    "collective_ranks_by_collective ON collective_ranks (collective);CREATE INDEX collective_ranks_by_rank "
    "ON collective_ranks (rank);CREATE INDEX steps_by_step ON steps (step, rank);CREATE INDEX "
    "segments_by_rank ON segments (rank, begin_ns);CREATE INDEX causes_by_rank ON causes (rank, step);";

// Tables that have no names of their own get a view with the questions people ask of them.
constexpr const char* kViews =
    "CREATE VIEW waits AS SELECT c.collective, c.operation, c.group_name, c.step, c.last_arriver, r.rank, "
    "r.wait_ns, r.transfer_ns, r.hidden_ns FROM collective_ranks r JOIN collectives c USING "
    "(collective);CREATE VIEW rank_causes AS SELECT rank, cause, ns, ns * 1.0 / nullif(sum(ns) OVER "
    "(PARTITION BY rank), 0) AS share FROM causes WHERE step IS NULL;CREATE VIEW activity_totals AS SELECT "
    "rank, class, name, count(*) AS count, sum(end_ns - begin_ns) AS total_ns, min(end_ns - begin_ns) AS "
    "shortest_ns, max(end_ns - begin_ns) AS longest_ns FROM activities_named GROUP BY rank, class, name;";

std::string column_name(const TableColumn& column) {
  return column.type == ColumnType::name ? std::string(column.name) + "_id" : column.name;
}

const char* sql_type(ColumnType type) {
  switch (type) {
    case ColumnType::real:
      return "REAL";
    case ColumnType::text:
      return "TEXT";
    case ColumnType::integer:
    case ColumnType::name:
      break;
  }
  return "INTEGER";
}

class Database {
 public:
  explicit Database(const std::filesystem::path& path) : path_(path.string()) {}

  Status write(const Job& job, const Analysis& analysis) {
    sqlite3* database = nullptr;
    const int opened =
        sqlite3_open_v2(path_.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    database_.reset(database);
    if (opened != SQLITE_OK) return error();
    // The file has a temporary name until it is whole, so there is nothing to recover.
    if (!execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA user_version = 1; BEGIN;"
                 "CREATE TABLE names (name_id INTEGER PRIMARY KEY, name TEXT NOT NULL);")) {
      return error();
    }
    insert_name_ = prepare("INSERT INTO names VALUES (?, ?)");
    if (!insert_name_) return error();
    for (const TableDefinition& table : table_definitions()) {
      if (!write_table(table, job, analysis)) return error();
    }
    if (!execute(kIndices) || !execute(kViews) || !execute("COMMIT; ANALYZE;")) return error();
    insert_name_.reset();
    return sqlite3_close(database_.release()) == SQLITE_OK ? Status()
                                                           : Status(Error{"cannot close " + path_});
  }

 private:
  Error error() const {
    return Error{fmt::format("cannot write {}: {}", path_,
                             database_ ? sqlite3_errmsg(database_.get()) : "out of memory")};
  }

  bool execute(const std::string& sql) {
    return sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }

  Statement prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr);
    return Statement(statement);
  }

  bool write_table(const TableDefinition& table, const Job& job, const Analysis& analysis) {
    std::string columns, parameters, joins, selected;
    for (const TableColumn& column : table.columns) {
      const char* comma = columns.empty() ? "" : ", ";
      columns += fmt::format("{}\"{}\" {}", comma, column_name(column), sql_type(column.type));
      parameters += fmt::format("{}?", comma);
      if (column.type == ColumnType::name) {
        joins += fmt::format(" LEFT JOIN names AS of_{0} ON of_{0}.name_id = t.{0}_id", column.name);
        selected += fmt::format("{}of_{}.name AS {}", comma, column.name, column.name);
      } else {
        selected += fmt::format("{}t.\"{}\"", comma, column.name);
      }
    }
    if (!execute(fmt::format("CREATE TABLE {} ({});", table.name, columns))) return false;
    if (!joins.empty() && !execute(fmt::format("CREATE VIEW {0}_named AS SELECT {1} FROM {0} AS t{2};",
                                               table.name, selected, joins))) {
      return false;
    }
    const Statement insert = prepare(fmt::format("INSERT INTO {} VALUES ({})", table.name, parameters));
    if (!insert) return false;
    bool good = true;
    table.rows(job, analysis, [&](std::span<const Value> row) {
      for (std::size_t i = 0; i < row.size() && good; ++i) {
        good = bind(insert.get(), static_cast<int>(i) + 1, row[i], table.columns[i].type);
      }
      good = good && sqlite3_step(insert.get()) == SQLITE_DONE && sqlite3_reset(insert.get()) == SQLITE_OK;
      return good;
    });
    return good;
  }

  bool bind(sqlite3_stmt* statement, int parameter, const Value& value, ColumnType type) {
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      if (type == ColumnType::name)
        return sqlite3_bind_int64(statement, parameter, name_id(*text)) == SQLITE_OK;
      return bind_text(statement, parameter, *text);
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      return sqlite3_bind_int64(statement, parameter, *number) == SQLITE_OK;
    }
    if (const auto* real = std::get_if<double>(&value))
      return sqlite3_bind_double(statement, parameter, *real) == SQLITE_OK;
    return sqlite3_bind_null(statement, parameter) == SQLITE_OK;
  }

  // The bytes as they are, UTF-8 or not. SQLITE_STATIC: the text outlives the step.
  static bool bind_text(sqlite3_stmt* statement, int parameter, std::string_view text) {
    return sqlite3_bind_text64(statement, parameter, text.data() == nullptr ? "" : text.data(), text.size(),
                               SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
  }

  std::int64_t name_id(std::string_view name) {
    const auto [entry, is_new] = name_ids_.try_emplace(name, static_cast<std::int64_t>(name_ids_.size()));
    if (is_new) {
      sqlite3_bind_int64(insert_name_.get(), 1, entry->second);
      bind_text(insert_name_.get(), 2, name);
      sqlite3_step(insert_name_.get());
      sqlite3_reset(insert_name_.get());
    }
    return entry->second;
  }

  std::string path_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  Statement insert_name_;
  std::unordered_map<std::string_view, std::int64_t> name_ids_;  // views into the job
};

// Written under another name, which becomes the target's.
Status write_path(const Job& job, const Analysis& analysis, const ExportOptions& options,
                  const std::filesystem::path& target) {
  Result<OutputPath> path = OutputPath::create(target, options.overwrite);
  if (!path.ok()) return path.error();
  const Status written = write_sqlite(job, analysis, path.value().path());
  return written.ok() ? path.value().commit() : written;
}

}  // namespace

Status write_sqlite(const Job& job, const Analysis& analysis, const std::filesystem::path& path) {
  return Database(path).write(job, analysis);
}

constinit const Exporter exporters::sqlite{
    .name = "sqlite",
    .title = "SQLite",
    .description = "tables for SQL; docs/export.md describes them (FILE.sqlite)",
    .ending = ".sqlite",
    .why_no_stream = "a SQLite database can't go to stdout; give a file name",
    .write_path = write_path,
};

}  // namespace lockstep::analyzer
