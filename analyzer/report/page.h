// Lines of styled text for a terminal: the little layout that the text report needs. Styles are semantic (a
// cause, bold, dim); what they become (colour, glyphs, plain ASCII) is decided once, in Page.
//
//   Page page({.width = 80});
//   page.add(Line{}.text("window ").bold("13.0 ms"));
//   std::string report = page.take();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/palette.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

enum class ColorDepth : std::uint8_t { none, palette256, true_color };

struct PageOptions {
  std::size_t width = 100;  // columns
  ColorDepth color = ColorDepth::none;
  bool dark_background = true;
  bool ascii = false;
};

enum class Emphasis : std::uint8_t { none, bold, dim };

struct Span {
  std::string text;  // valid UTF-8 without control characters: others a Page shows as \x1B (printable())
  Emphasis emphasis = Emphasis::none;
  std::optional<Cause> cause;  // coloured as this cause
  bool swatch = false;         // part of a bar: a darker shade of the colour stands behind it
};

class Line {
 public:
  Line& text(std::string_view text) { return add({std::string(text), Emphasis::none, {}, false}); }
  Line& bold(std::string_view text) { return add({std::string(text), Emphasis::bold, {}, false}); }
  Line& dim(std::string_view text) { return add({std::string(text), Emphasis::dim, {}, false}); }
  Line& cause(std::string_view text, Cause cause) {
    return add({std::string(text), Emphasis::none, cause, false});
  }
  Line& swatch(std::string_view text, Cause cause) {
    return add({std::string(text), Emphasis::none, cause, true});
  }
  Line& add(Span span);
  Line& add(const Line& other);
  Line& pad_to(std::size_t columns);  // with spaces
  std::size_t width() const;          // columns
  const std::vector<Span>& spans() const { return spans_; }

 private:
  std::vector<Span> spans_;
};

class Page {
 public:
  explicit Page(const PageOptions& options) : options_(options) {}
  const PageOptions& options() const { return options_; }

  void add(const Line& line);
  void blank() { out_ += '\n'; }
  // Breaks the line between words so that it fits; a number stays with its unit. The first line starts after
  // `indent` columns, the others after `hanging`.
  void wrap(const Line& line, std::size_t indent, std::size_t hanging);
  std::string take() { return std::move(out_); }

 private:
  PageOptions options_;
  std::string out_;
};

// A stacked bar of `columns` columns for the whole of `scale` ns: what the partition covers is drawn, in
// order of Cause; the rest stays empty. Cells are rounded so that the bar's length is that of its total.
Line stacked_bar(const Partition& partition, std::int64_t scale_ns, std::size_t columns, bool ascii);

// A column of a Table.
struct Column {
  std::string title;
  bool right = false;  // aligned
  int drop = 0;        // where the page is too narrow, columns with the greatest number go first; 0: never
};

// Columns as wide as their widest cell, two spaces between them. At most one cell per row may be elastic:
// drawn at whatever width the page leaves.
class Table {
 public:
  using Elastic = std::function<Line(std::size_t columns)>;

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // The column that takes the rest of the page: at least `minimum`, at most `maximum` columns.
  void set_elastic(std::size_t column, std::size_t minimum, std::size_t maximum);
  void add_row(std::vector<Line> cells, Elastic elastic = nullptr);
  void print(Page& page, std::size_t indent) const;

 private:
  struct Row {
    std::vector<Line> cells;
    Elastic elastic;
  };
  std::vector<std::size_t> natural_widths() const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::optional<std::size_t> elastic_;
  std::size_t minimum_ = 0, maximum_ = 0;
};

}  // namespace lockstep::analyzer
