// What links ranks: messages from sender to receiver, and the chain of waits.
#include <algorithm>

#include "viewer/timeline/draw_parts.h"
#include "viewer/timeline/messages.h"

namespace lockstep::viewer {

namespace {

const Row& row_of(const Frame& frame, const Item& item) {
  return frame.scene.timeline().ranks[item.rank].lanes[item.lane].rows[item.row];
}

void draw_message(Canvas& canvas, const Frame& frame, const Message& message, Color color, float thickness) {
  const auto from_y = middle_of(frame, message.from);
  const auto to_y = middle_of(frame, message.to);
  if (!from_y || !to_y) return;
  const Row& from = row_of(frame, message.from);
  const Row& to = row_of(frame, message.to);
  const Point start{x_of(frame, from.begin[message.from.at]), *from_y};
  if (message.directed) {
    const float head = static_cast<float>(frame.sizes.lane) * 0.4F;
    arrow(canvas, start, {x_of(frame, to.end[message.to.at]), *to_y}, color, thickness, head);
  } else {
    canvas.line(start, {x_of(frame, to.begin[message.to.at]), *to_y}, color, thickness);
  }
}

// What began it all: along the top of its row, so that nothing is struck through.
void draw_root(Canvas& canvas, const Frame& frame, const WaitChain& chain, Color color, float thickness,
               float head) {
  const Item& root = *chain.root;
  const Item& last = chain.items.back();
  const auto last_y = middle_of(frame, last);
  const auto root_y = middle_of(frame, root);
  if (!root_y || !last_y) return;
  const Row& row = row_of(frame, root);
  const Nanoseconds begin = row.begin[root.at], end = row.end[root.at];
  const auto box = rect_of(frame, root);
  const float top = box ? box->top - 2 : *root_y;
  const Nanoseconds arrival = row_of(frame, last).begin[last.at];
  const float x = x_of(frame, arrival);
  const float end_x = x_of(frame, std::min(end, arrival));
  canvas.line({x, *last_y}, {x, top}, color, thickness);
  arrow(canvas, {x, top}, {end_x, top}, color, thickness, head);
  if (!on_screen(frame.axis, begin, end)) return;
  if (box) outline(canvas, *box, color, thickness);
  // In the rank's free strip, before its end: what is to its right is what waited for it.
  const std::string text = fitted(canvas, chain.why, frame.regions.lanes.width() * 0.7F, Font::small);
  const auto strip = static_cast<float>(frame.sizes.step_strip);
  patch(canvas, frame, end_x - canvas.text_width(text, Font::small) - 8,
        middle(canvas, frame.rank_top(root.rank), strip, Font::small) - 1, text, color);
}

}  // namespace

void draw_messages(Canvas& canvas, const Frame& frame, std::optional<std::uint32_t> lit) {
  canvas.clip(frame.regions.lanes);
  for (const Message& message : messages_in_view(frame)) {
    if (message.collective == lit) continue;
    draw_message(canvas, frame, message, with_alpha(frame.theme.text, lit ? 0.18 : 0.5), 1);
  }
  if (lit) {
    if (const auto message = message_of(frame.scene, *lit))
      draw_message(canvas, frame, *message, frame.theme.lit, 2);
  }
  canvas.unclip();
}

void draw_chain(Canvas& canvas, const Frame& frame) {
  const WaitChain& chain = frame.state.chain;
  if (!frame.state.chain_shown || chain.items.empty()) return;
  const Color color = frame.theme.warning;
  const float head = static_cast<float>(frame.sizes.lane) * 0.45F;
  constexpr float kThickness = 2;
  canvas.clip(frame.regions.lanes);
  for (std::size_t i = 0; i + 1 < chain.items.size(); ++i) {
    const Item& waiter = chain.items[i];
    const Item& holder = chain.items[i + 1];
    const auto waiter_y = middle_of(frame, waiter);
    const auto holder_y = middle_of(frame, holder);
    if (!waiter_y || !holder_y) continue;
    const Row& to = row_of(frame, holder);
    const Row& from = row_of(frame, waiter);
    if (waiter.rank != holder.rank) {
      // The instant at which the last one came: it ended the wait.
      const float x = x_of(frame, to.begin[holder.at]);
      arrow(canvas, {x, *waiter_y}, {x, *holder_y}, color, kThickness, head);
    } else {
      arrow(canvas, {x_of(frame, from.begin[waiter.at]), *waiter_y},
            {x_of(frame, std::min(to.end[holder.at], from.begin[waiter.at])), *holder_y}, color, kThickness,
            head);
    }
  }
  if (chain.root) draw_root(canvas, frame, chain, color, kThickness, head);
  canvas.unclip();
}

}  // namespace lockstep::viewer
