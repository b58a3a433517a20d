"""Where the program's Python is, looked at some times a second (`lockstep record --stacks N`).

A thread of its own looks at the main thread's stack whenever it gets the interpreter's lock, and tells one place:
the innermost frame that is neither of Python's library nor of PyTorch's, with its line. Between two looks the main
thread counts as where the first one saw it. Loaded once the library follows the process, by lockstep_pytorch.py,
whose rules hold here too.
"""
import _thread
import atexit
import os
import random
import sys
import sysconfig
import threading
import time

import _lockstep_pytorch as core

_MOST_PLACES = 4096  # that are kept in words
_MOST_FRAMES = 1000  # that are looked at: imports nest some hundreds
_SKIPPED, _LIBRARY, _OWN = 0, 1, 2


def _folder(path):
    return os.path.join(os.path.realpath(path), "")


class _Files:
    """What kind of code a file holds, and how it is called."""

    def __init__(self):
        self._packages = tuple({_folder(sysconfig.get_path(name)) for name in ("purelib", "platlib")})
        self._skipped = (_folder(os.path.dirname(sys.modules["torch"].__file__)), _folder(os.path.dirname(__file__)))
        self._standard = tuple({_folder(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
        self._known = {}

    def kind(self, path):
        kind = self._known.get(path)
        if kind is None:
            if len(self._known) >= _MOST_PLACES:
                self._known.clear()
            kind = self._known[path] = self._find(path)
        return kind

    def is_known_own(self, path):
        return self._known.get(path) == _OWN

    def _find(self, path):
        if path.startswith("<frozen") or path.startswith("<string"):
            return _SKIPPED
        real = os.path.realpath(path)
        if real.startswith(self._skipped):
            return _SKIPPED
        if real.startswith(self._packages) or "/site-packages/" in real or "/dist-packages/" in real:
            return _LIBRARY
        return _SKIPPED if real.startswith(self._standard) else _OWN


def _short(path):
    # Files have the same names in many folders: the folder's is part of it, but of scripts.
    folder, name = os.path.split(path)
    if os.path.exists(os.path.join(folder, "__init__.py")):
        return os.path.join(os.path.basename(folder), name)
    return name


class _Places:
    """Names of places: `function (file:line)`, and where that is a package's, which line of the program calls it."""

    def __init__(self):
        self._files = _Files()
        self._names = {}

    def of(self, stack):
        """The name of the place that a stack, `stack_of`'s, is in."""
        inner, own = None, None
        for place in stack:
            kind = self._files.kind(place[0].co_filename)
            if kind != _SKIPPED and inner is None:
                inner = place
            if kind == _OWN:
                own = place
                break
        inner = inner or stack[0]
        own = None if own is inner else own
        key = (inner, own)
        name = self._names.get(key)
        if name is None:
            if len(self._names) >= _MOST_PLACES:
                self._names.clear()
            name = _words(*inner) + (f", called by {_words(*own)}" if own is not None else "")
            name = self._names[key] = name.encode("utf-8", "replace")[:500]
        return name

    def stack_of(self, thread):
        """Code and line of a thread's frames, from the innermost to the first that is known to be the program's own;
        None where the thread went on meanwhile. Nothing here gives the interpreter's lock away, as a look into the
        file system does, but the interpreter itself may: a frame that is left forgets which one called it, and what
        is read then has no frame of the program in it. No frame is kept but the one that is read: a frame that
        outlives its call keeps all that called it, and Python 3.11 before 3.11.5 crashes where it frees many such
        at once (its frame_dealloc used memory that it had freed)."""
        frame = sys._current_frames().get(thread)
        innermost, stack = id(frame), []
        while frame is not None and len(stack) < _MOST_FRAMES:
            stack.append((frame.f_code, frame.f_lineno))
            if self._files.is_known_own(frame.f_code.co_filename):
                break
            frame = frame.f_back
        frame = None
        return stack if stack and id(sys._current_frames().get(thread)) == innermost else None


def _words(code, line):
    return f"{code.co_name} ({_short(code.co_filename)}:{line})"


def _look(library, main, period, stop):
    """Until `stop`, a lock, is free."""
    try:
        places = _Places()
        chance = random.Random()  # steps that take a multiple of the period would always be seen at the same place
        name, since = None, 0
        while True:
            if stop.acquire(timeout=period * (0.5 + chance.random())) or core.following() is not library:
                return
            now = time.monotonic_ns()
            if name is not None:
                library.lockstep_pytorch_python_place(name, since, now)
            if not library.lockstep_pytorch_is_recording():
                name = None
                continue
            stack = places.stack_of(main)
            name, since = (places.of(stack) if stack is not None else None), now
    except Exception as problem:
        core._tell_problem(f"stacks: {problem}")


def follow_stacks():
    times_a_second = float(os.environ.get("LOCKSTEP_STACKS", "20"))
    stop = _thread.allocate_lock()
    stop.acquire()
    atexit.register(stop.release)
    # Not of `threading`: a program that lists its threads sees its own alone.
    _thread.start_new_thread(_look, (core.following(), threading.main_thread().ident, 1 / times_a_second, stop))
