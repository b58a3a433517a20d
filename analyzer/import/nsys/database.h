// Reading a SQLite file that somebody else wrote: tables and columns may be missing, the file cut, locked by
// its writer, or made to do harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lockstep::analyzer::nsys {

class Database {
 public:
  // Plain, or gzip: then it is unpacked in memory, up to 4 GiB. Errors name the file. A file that was cut is
  // opened all the same: rows end where their pages do.
  static Result<Database> open(const std::filesystem::path& path);

  // Real tables alone: a view may hide work without end behind a name.
  bool has(const std::string& table) const { return tables_.contains(table); }
  // As if it were not there.
  void forget(const std::string& table) { tables_.erase(table); }
  // What is wrong with the file as a whole; empty if nothing is.
  const std::string& damage() const { return damage_; }
  // The first value that was read as a number and is none: table, column, row and value; empty if all were.
  const std::string& wrong_type() const { return wrong_type_; }
  // The first value of the first row, of a table that has such a row.
  std::optional<std::string> value(const std::string& table, const std::string& wanted,
                                   const std::string& key_column = {}, const std::string& key = {});

 private:
  friend class Rows;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  struct Close {
    void operator()(sqlite3* database) const;
  };
  bool open_unpacked();
  int find_tables();
  // Takes what is left of a file that was cut; false if it was not, or nothing can be taken.
  bool take_what_is_left();
  Status settle_tables();

  std::filesystem::path path_;
  std::vector<unsigned char> unpacked_;
  std::unique_ptr<sqlite3, Close> database_;  // before what it reads from is gone
  std::set<std::string> tables_;
  std::string damage_;
  std::string wrong_type_;
};

// Some columns of all rows of a table, in the order in which they stand. A column that the table lacks is
// null in every row; a table that the file lacks has no rows.
class Rows {
 public:
  // The database is to outlive the rows.
  Rows(Database& database, const std::string& table, const std::vector<std::string>& columns);

  bool next();  // false at the end, and where the file is damaged

  bool is_null(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;  // 0 if null, or no whole number: then Database::wrong_type
  // The same of a column that no row may leave empty: an empty one is no whole number either.
  std::int64_t given_integer(std::size_t column) const;
  std::string_view text(std::size_t column) const;  // until the next row
  std::span<const std::byte> bytes(std::size_t column) const;
  bool has_column(std::size_t column) const { return present_[column]; }
  // Why the rows ended before their end, which a value of more than 64 MiB is too; empty if they did not.
  const std::string& problem() const { return problem_; }

 private:
  void note_wrong_type(int column) const;

  std::unique_ptr<sqlite3_stmt, Database::Finalize> statement_;
  Database& database_;
  std::vector<bool> present_;
  std::string problem_;
  std::string table_;
  std::uint64_t row_ = 0;  // how many have been read
};

}  // namespace lockstep::analyzer::nsys
