#include <algorithm>
#include <numeric>
#include <string>

#include "analyzer/report/page.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

void Table::set_elastic(std::size_t column, std::size_t minimum, std::size_t maximum) {
  elastic_ = column;
  minimum_ = minimum;
  maximum_ = maximum;
}

void Table::add_row(std::vector<Line> cells, Elastic elastic) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), std::move(elastic)});
}

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const Row& row : rows_) width = std::max(width, row.cells[c].width());
    widths.push_back(elastic_ == c ? minimum_ : width);
  }
  return widths;
}

void Table::print(Page& page, std::size_t indent) const {
  std::vector<std::size_t> widths = natural_widths();
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::erase_if(shown, [&](std::size_t c) { return widths[c] == 0; });
  std::vector<std::string> left_out;
  const auto total = [&] {
    std::size_t sum = indent;
    for (const std::size_t c : shown) sum += widths[c] + kGap;
    return sum - kGap;
  };
  while (total() > page.options().width) {
    const auto widest = std::max_element(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
      return columns_[a].drop < columns_[b].drop;
    });
    if (columns_[*widest].drop == 0) break;
    if (!columns_[*widest].title.empty()) left_out.push_back(columns_[*widest].title);
    shown.erase(widest);
  }
  if (elastic_ && total() < page.options().width) {
    widths[*elastic_] = std::min(maximum_, widths[*elastic_] + page.options().width - total());
  }

  const auto print_row = [&](const auto& cell_of) {
    Line line;
    line.pad_to(indent);
    std::size_t end = indent;
    for (const std::size_t c : shown) {
      const Line cell = cell_of(c);
      end += widths[c];
      if (columns_[c].right && cell.width() < widths[c]) line.pad_to(end - cell.width());
      line.add(cell);
      end += kGap;
      line.pad_to(end);
    }
    page.add(line);
  };
  print_row([&](std::size_t c) {
    return Line{}.dim(fit(columns_[c].title, std::max(widths[c], display_width(columns_[c].title))));
  });
  for (const Row& row : rows_) {
    print_row(
        [&](std::size_t c) { return elastic_ == c && row.elastic ? row.elastic(widths[c]) : row.cells[c]; });
  }
  if (left_out.empty()) return;
  std::string names;
  for (const std::string& name : left_out) names += (names.empty() ? "" : ", ") + name;
  page.wrap(Line{}.dim("columns left out at this width: " + names), indent, indent + 2);
}

}  // namespace lockstep::analyzer
