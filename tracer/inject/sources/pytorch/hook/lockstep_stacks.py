"""Where the program's Python is, looked at some times a second (`lockstep record --stacks N`).

A thread of its own looks at the main thread's stack whenever it gets the interpreter's lock, and tells one place:
the innermost frame that is neither of Python's library nor of PyTorch's, with its line. Between two looks the main
thread counts as where the first one saw it. The stack is read by the library, in one call (python_stack.h says why).
Loaded once the library follows the process, by lockstep_pytorch.py, whose rules hold here too.
"""
import _thread
import atexit
import ctypes
import os
import random
import struct
import sys
import sysconfig
import threading
import time

import _lockstep_pytorch as core

_MOST_PLACES = 4096  # that are kept in words
_MOST_STACKS = 1024  # that are known again
_MOST_FRAMES = 1000  # that are looked at: imports nest some hundreds
_FRAME = struct.Struct("@Pq")  # a PythonPlace: the address of a code object, and a line
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

    def _find(self, path):
        # Code that a library made while it ran, e.g. "<_remote_module_non_scriptable>.py"; not what a user typed.
        if path.startswith("<") and not path.startswith(("<stdin>", "<ipython-input")):
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
        """The name of the place that a stack is in: code objects and lines, the innermost first."""
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


def _words(code, line):
    return f"{code.co_name} ({_short(code.co_filename)}:{line})"


class _Stack:
    """The stack of a thread, `own_thread_state`'s of it. A stack that has been seen before is known by its bytes: looking
    at it again makes no objects that Python collects, and so sets off no collection on the thread that looks."""

    def __init__(self, library, thread_state):
        self._read, self._release = library.lockstep_pytorch_read_stack, library.lockstep_pytorch_release_stack
        self._thread_state = thread_state
        self._buffer = ctypes.create_string_buffer(_FRAME.size * _MOST_FRAMES)
        self._address = ctypes.addressof(self._buffer)
        self._places = _Places()
        self._known = {}  # bytes of a stack: its place, and the code objects, which keep their addresses

    def place(self):
        """The name of the place that the thread is in; None where it is in no Python."""
        count = self._read(self._thread_state, self._address, _MOST_FRAMES)
        if count == 0:
            return None
        try:
            key = ctypes.string_at(self._address, _FRAME.size * count)
            known = self._known.get(key)
            if known is None:
                if len(self._known) >= _MOST_STACKS:
                    self._known.clear()
                stack = [(ctypes.cast(code, ctypes.py_object).value, line) for code, line in _FRAME.iter_unpack(key)]
                known = self._known[key] = (self._places.of(stack), [code for code, _ in stack])
            return known[0]
        finally:
            self._release(self._address, count)


def _look(library, thread_state, period, stop, ended):
    """Until `stop`, a lock, is free. Releases `ended`."""
    try:
        threads = core.part("threads")
        threads.ours.append(threading.get_native_id())
        stack = _Stack(library, thread_state)
        chance = random.Random()  # steps that take a multiple of the period would always be seen at the same place
        name, since = None, 0
        while True:
            if stop.acquire(timeout=period * (0.5 + chance.random())) or core.following() is not library:
                return
            threads.tell()
            now = time.monotonic_ns()
            if name is not None:
                library.lockstep_pytorch_python_place(name, since, now)
            if not library.lockstep_pytorch_is_recording():
                name = None
                continue
            name, since = stack.place(), now
    except Exception as problem:
        core._tell_problem(f"stacks: {problem}")
    finally:
        ended.release()


def follow_stacks():
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("not looked at: another thread than the main one was the first to use torch.distributed")
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise RuntimeError("not looked at: this Python runs without the interpreter's lock")
    library, times_a_second = core.following(), float(os.environ.get("LOCKSTEP_STACKS", "20"))
    thread_state = library.lockstep_pytorch_own_thread_state()
    if thread_state is None:
        raise RuntimeError("not looked at: this needs Python 3.9 or later")
    process, stop, ended = os.getpid(), _thread.allocate_lock(), _thread.allocate_lock()
    stop.acquire()
    ended.acquire()

    def end():
        # No thread of ours runs Python while that is torn down. Those that are forked have none.
        if os.getpid() == process:
            stop.release()
            ended.acquire(timeout=1)

    atexit.register(end)
    # Not of `threading`: a program that lists its threads sees its own alone.
    _thread.start_new_thread(_look, (library, thread_state, 1 / times_a_second, stop, ended))
