// Two pictures of the same thing: what of one is not in the other, however their edges were smoothed.
#pragma once

#include <optional>
#include <string>

#include "viewer/window/png_writer.h"

namespace lockstep::viewer {

struct PictureTolerance {
  // Pictures are compared by the mean colour of blocks of 8 × 8 pixels: text and edges that another version
  // of a driver draws half a pixel aside stay alike, a box that moved does not.
  int channel = 20;               // of 255, by which a block's mean may be off in each channel
  double differing_share = 1e-3;  // of blocks that may be off by more
};

struct PictureDifference {
  bool alike = false;
  double share = 0;  // of blocks that are off by more than the tolerance
  int greatest = 0;  // of all blocks and channels, of 255
  Picture marked;    // the first picture in grey with differing blocks in red; empty where sizes differ
};

PictureDifference compare(const Picture& seen, const Picture& expected,
                          const PictureTolerance& tolerance = {});

}  // namespace lockstep::viewer
