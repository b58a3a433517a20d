#include "analyzer/import/nsys/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

namespace lockstep::analyzer::nsys {
namespace {

constexpr int kPatienceMilliseconds = 2000;
constexpr std::size_t kLargestUnpacked = std::size_t{4} << 30U;
// Of a text, a blob and a row, which are read into memory whole.
constexpr int kLongestValue = 64 << 20U;

bool is_gzip(const std::filesystem::path& path) {
  std::array<char, 2> magic{};
  std::ifstream file(path, std::ios::binary);
  file.read(magic.data(), magic.size());
  return file && magic[0] == '\x1f' && magic[1] == '\x8b';
}

Result<std::vector<unsigned char>> unpack(const std::filesystem::path& path, std::string& damage) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) return Error{fmt::format("{}: can't be opened (permissions?)", path.string())};
  constexpr std::size_t kPiece = std::size_t{4} << 20U;
  std::vector<unsigned char> bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    const int got = gzread(file.get(), bytes.data() + before, kPiece);
    bytes.resize(before + static_cast<std::size_t>(std::max(got, 0)));
    // What stands before the damage is the beginning of a SQLite file, as if that were cut.
    if (got < 0 && bytes.empty())
      return Error{fmt::format("{}: the gzip data is damaged: copy or export it again", path.string())};
    if (got < 0) damage = "the gzip data is damaged";
    if (got < 0) return bytes;
    if (got == 0) return bytes;
    if (bytes.size() > kLargestUnpacked)
      return Error{fmt::format("{}: more than 4 GiB when unpacked: gunzip it first", path.string())};
  }
}

// What stands in the file's schema is not ours to run.
void distrust(sqlite3* database) {
  sqlite3_busy_timeout(database, kPatienceMilliseconds);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
}

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

void Database::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

bool Database::open_unpacked() {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
  database_.reset(raw);
  const auto size = static_cast<sqlite3_int64>(unpacked_.size());
  if (code != SQLITE_OK || sqlite3_deserialize(raw, "main", unpacked_.data(), size, size,
                                               SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    return false;
  distrust(raw);
  return true;
}

Result<Database> Database::open(const std::filesystem::path& path) {
  Database opened;
  opened.path_ = path;
  if (is_gzip(path)) {
    Result<std::vector<unsigned char>> unpacked = unpack(path, opened.damage_);
    if (!unpacked.ok()) return unpacked.error();
    opened.unpacked_ = std::move(unpacked).value();
    if (!opened.open_unpacked()) return Error{fmt::format("{}: not a SQLite file", path.string())};
  } else {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
    opened.database_.reset(raw);
    if (code != SQLITE_OK) return Error{fmt::format("{}: {}", path.string(), sqlite3_errmsg(raw))};
    distrust(raw);
  }
  if (const Status status = opened.settle_tables(); !status.ok()) return status.error();
  return opened;
}

int Database::find_tables() {
  tables_.clear();
  sqlite3_stmt* raw = nullptr;
  int code = sqlite3_prepare_v2(
      database_.get(),
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'", -1, &raw,
      nullptr);
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(raw);
    if (code != SQLITE_ROW) break;
    const unsigned char* const name = sqlite3_column_text(raw, 0);
    if (name != nullptr) tables_.insert(reinterpret_cast<const char*>(name));
  }
  return code;
}

bool Database::take_what_is_left() {
  if (unpacked_.empty()) {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path_, error);
    if (error || size > kLargestUnpacked) return false;
    unpacked_.resize(static_cast<std::size_t>(size));
    std::ifstream file(path_, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(unpacked_.data()), static_cast<std::streamsize>(size)))
      return false;
  }
  constexpr std::size_t kHeader = 100, kPageSize = 16, kPages = 28;
  if (unpacked_.size() < kHeader) return false;
  const auto big_endian = [&](std::size_t at, std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value = value << 8U | unpacked_[at + i];
    return value;
  };
  const std::uint64_t said = big_endian(kPageSize, 2), page = said == 1 ? 65'536 : said;
  const std::uint64_t promised = page * big_endian(kPages, 4), size = unpacked_.size();
  if (page == 0 || size >= promised) return false;
  // Of a page that is there in part the rows would be zeros. The header must promise no more than there is.
  const std::uint64_t pages = size / page;
  unpacked_.resize(static_cast<std::size_t>(pages * page));
  if (unpacked_.size() < kHeader) return false;
  for (std::size_t i = 0; i < 4; ++i)
    unpacked_[kPages + i] = static_cast<unsigned char>(pages >> (8 * (3 - i)));
  if (!open_unpacked() || find_tables() != SQLITE_DONE) return false;
  damage_ = fmt::format("the file is cut: it has {} of {} bytes", size, promised);
  return true;
}

Status Database::settle_tables() {
  int code = find_tables();
  if (code == SQLITE_DONE) return {};
  if (code == SQLITE_CORRUPT && take_what_is_left()) return {};
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return Error{fmt::format("{}: another program is writing it (nsys export?): wait until it is done",
                             path_.string())};
  return Error{
      fmt::format("{}: the SQLite file is damaged ({}): export it again (`nsys export --type sqlite`)",
                  path_.string(), sqlite3_errstr(code))};
}

std::optional<std::string> Database::value(const std::string& table, const std::string& wanted,
                                           const std::string& key_column, const std::string& key) {
  Rows rows(*this, table, {wanted, key_column.empty() ? wanted : key_column});
  while (rows.next()) {
    if (!key_column.empty() && rows.text(1) != key) continue;
    if (rows.is_null(0)) return std::nullopt;
    return std::string(rows.text(0));
  }
  return std::nullopt;
}

Rows::Rows(Database& database, const std::string& table, const std::vector<std::string>& columns)
    : database_(database), present_(columns.size(), false), table_(table) {
  if (!database.has(table)) return;
  std::set<std::string> there;
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database.database_.get(),
                         fmt::format("PRAGMA table_info({})", quoted(table)).c_str(), -1, &raw,
                         nullptr) == SQLITE_OK) {
    const std::unique_ptr<sqlite3_stmt, Database::Finalize> info(raw);
    while (sqlite3_step(raw) == SQLITE_ROW)
      if (const unsigned char* const name = sqlite3_column_text(raw, 1); name != nullptr)
        there.insert(reinterpret_cast<const char*>(name));
  }
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    present_[i] = there.contains(columns[i]);
    sql += i == 0 ? "" : ", ";
    sql += present_[i] ? quoted(columns[i]) : "NULL";
  }
  sql += " FROM " + quoted(table);
  raw = nullptr;
  if (sqlite3_prepare_v2(database.database_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK)
    problem_ = fmt::format("table {}: {}", table, sqlite3_errmsg(database.database_.get()));
  statement_.reset(raw);
}

bool Rows::next() {
  if (statement_ == nullptr || !problem_.empty()) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    ++row_;
    return true;
  }
  if (code == SQLITE_TOOBIG)
    problem_ = fmt::format("table {}: row {} has a value of more than {} MiB, which is no name", table_,
                           row_ + 1, kLongestValue >> 20U);
  else if (code != SQLITE_DONE)
    problem_ = fmt::format("table {}: {}", table_, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
  statement_.reset();
  return false;
}

bool Rows::is_null(std::size_t column) const {
  return sqlite3_column_type(statement_.get(), static_cast<int>(column)) == SQLITE_NULL;
}

std::int64_t Rows::integer(std::size_t column) const {
  const int index = static_cast<int>(column);
  const int type = sqlite3_column_type(statement_.get(), index);
  if (type == SQLITE_INTEGER) return sqlite3_column_int64(statement_.get(), index);
  if (type != SQLITE_NULL) note_wrong_type(index);
  return 0;
}

std::int64_t Rows::given_integer(std::size_t column) const {
  if (has_column(column) && is_null(column)) note_wrong_type(static_cast<int>(column));
  return integer(column);
}

// SQLite keeps any type in any column, and makes 0 of a text that begins with no digit, 12 of "12:30".
void Rows::note_wrong_type(int column) const {
  if (!database_.wrong_type_.empty()) return;
  std::string value;
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_TEXT:
      value = fmt::format("the text \"{}\"", shortened(text(column)));
      break;
    case SQLITE_FLOAT:
      value = fmt::format("{}", sqlite3_column_double(statement_.get(), column));
      break;
    case SQLITE_NULL:
      value = "nothing";
      break;
    default:
      value = "a blob";
  }
  database_.wrong_type_ = fmt::format("table {}, column {}, row {}: {} where a whole number should stand",
                                      table_, sqlite3_column_name(statement_.get(), column), row_, value);
}

std::string_view Rows::text(std::size_t column) const {
  const unsigned char* const text = sqlite3_column_text(statement_.get(), static_cast<int>(column));
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), static_cast<int>(column)))};
}

std::span<const std::byte> Rows::bytes(std::size_t column) const {
  const void* const blob = sqlite3_column_blob(statement_.get(), static_cast<int>(column));
  if (blob == nullptr) return {};
  return {static_cast<const std::byte*>(blob),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), static_cast<int>(column)))};
}

}  // namespace lockstep::analyzer::nsys
