// The characters that the keyboard writes, as commands: `/` and `[` lie on other keys of each country's
// keyboard, some only with Shift or AltGr, so it is the character that counts and not the key.
#pragma once

namespace lockstep::viewer {

class TypedCharacters {
 public:
  // Once a frame, before it is asked.
  void read();
  // The character was typed in this frame. A key that is held types again and again: true for the first of
  // these alone, unless `repeat`. Never while Ctrl, Alt or Super make another command of it; AltGr does not.
  bool typed(char character, bool repeat = false) const;

 private:
  bool pressed_ = false;    // a key went down since the last character
  bool repeating_ = false;  // this frame's characters come from a key that is held
};

}  // namespace lockstep::viewer
