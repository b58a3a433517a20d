#include "tests/accuracy/cell_table.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <tuple>

#include "tests/accuracy/rates.h"

namespace lockstep::accuracy {
namespace {

auto key_of(const nlohmann::json& row) {
  return std::tuple(row.value("fault", ""), row.value("noise_level", 0.0), row.value("effect", 0.0),
                    row.value("levelled", true), row.value("ranks", 0), row.value("steps", 0));
}

}  // namespace

CellTable::CellTable(std::string_view what, std::string_view set, std::uint64_t seed)
    : document_{{"what", what}, {"set", set}, {"seed", seed}, {"cells", nlohmann::json::array()}} {}

void CellTable::resume(const std::filesystem::path& file) {
  std::ifstream in(file);
  const nlohmann::json before = nlohmann::json::parse(in, nullptr, false);
  if (!before.is_object() || !before.contains("cells")) return;
  for (const char* field : {"what", "set", "seed"})
    if (!before.contains(field) || before.at(field) != document_.at(field)) return;
  for (const nlohmann::json& row : before.at("cells")) put(row);
}

const nlohmann::json* CellTable::find(const nlohmann::json& row) const {
  for (const nlohmann::json& known : document_.at("cells"))
    if (key_of(known) == key_of(row)) return &known;
  return nullptr;
}

void CellTable::put(const nlohmann::json& row) {
  auto& cells = document_.at("cells").get_ref<nlohmann::json::array_t&>();
  std::erase_if(cells, [&row](const nlohmann::json& known) { return key_of(known) == key_of(row); });
  cells.push_back(row);
  std::sort(cells.begin(), cells.end(),
            [](const nlohmann::json& a, const nlohmann::json& b) { return key_of(a) < key_of(b); });
}

std::int64_t CellTable::sum_of(const char* field) const {
  std::int64_t sum = 0;
  for (const nlohmann::json& row : document_.at("cells")) sum += row.value(field, std::int64_t{0});
  return sum;
}

std::int64_t CellTable::jobs() const {
  return sum_of("jobs");
}
std::int64_t CellTable::accused() const {
  return sum_of("accused");
}

bool CellTable::write(const std::filesystem::path& file) {
  document_["pooled"] = {
      {"jobs", jobs()}, {"accused", accused()}, {"upper_bound", upper_bound(accused(), jobs())}};
  std::filesystem::path beside = file;
  beside += ".new";
  if (!(std::ofstream(beside) << document_.dump(1) << '\n').flush()) return false;
  std::error_code error;
  std::filesystem::rename(beside, file, error);
  return !error;
}

}  // namespace lockstep::accuracy
