"""liblockstep-inject.so as Python calls it: its functions and their types. Loaded by lockstep_pytorch.py, once there is
something to tell, and whose rules hold here too.
"""
import ctypes
import os

VERSION = 8  # of these functions: lockstep_pytorch_version()


def load():
    # PyDLL: the interpreter's lock is kept during the calls, which are shorter than giving it up.
    library = ctypes.PyDLL(os.environ["LOCKSTEP_INJECTION"])
    if library.lockstep_pytorch_version() != VERSION:
        raise RuntimeError("liblockstep-inject.so is of another version than its Python hook")
    library.lockstep_pytorch_start.argtypes = [ctypes.c_int32, ctypes.c_int32]
    library.lockstep_pytorch_group.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_int32), ctypes.c_int32, ctypes.c_int32]
    library.lockstep_pytorch_group.restype = None
    for name in ("begin", "end"):
        function = getattr(library, "lockstep_pytorch_" + name)
        function.argtypes = [ctypes.c_int32, ctypes.c_uint64]
        function.restype = None
    library.lockstep_pytorch_begin_range.argtypes = [ctypes.c_char_p]
    library.lockstep_pytorch_begin_range.restype = None
    library.lockstep_pytorch_end_range.argtypes = []
    library.lockstep_pytorch_end_range.restype = None
    library.lockstep_pytorch_past_range.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64]
    library.lockstep_pytorch_past_range.restype = None
    library.lockstep_pytorch_begin_long_range.argtypes = [ctypes.c_char_p, ctypes.c_int64]
    library.lockstep_pytorch_end_long_range.argtypes = [ctypes.c_int64, ctypes.c_int64]
    library.lockstep_pytorch_end_long_range.restype = None
    library.lockstep_pytorch_is_recording.argtypes = []
    library.lockstep_pytorch_python_place.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64]
    library.lockstep_pytorch_python_place.restype = None
    library.lockstep_pytorch_own_thread_state.argtypes = []
    library.lockstep_pytorch_own_thread_state.restype = ctypes.c_void_p
    library.lockstep_pytorch_read_stack.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
    library.lockstep_pytorch_release_stack.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    library.lockstep_pytorch_release_stack.restype = None
    library.lockstep_pytorch_python_threads.argtypes = [ctypes.POINTER(ctypes.c_uint32), ctypes.c_int32]
    library.lockstep_pytorch_python_threads.restype = None
    library.lockstep_pytorch_device.argtypes = [ctypes.c_int32]
    library.lockstep_pytorch_device.restype = None
    library.lockstep_pytorch_begin_module.argtypes = [ctypes.c_char_p]
    library.lockstep_pytorch_begin_module.restype = ctypes.c_uint32
    library.lockstep_pytorch_end_module.argtypes = [ctypes.c_uint32]
    library.lockstep_pytorch_end_module.restype = None
    library.lockstep_pytorch_unused_signal.argtypes = []
    library.lockstep_pytorch_stacks.argtypes = [ctypes.c_int32, ctypes.c_int32]
    library.lockstep_pytorch_stacks.restype = None
    library.lockstep_pytorch_problem.argtypes = [ctypes.c_char_p]
    library.lockstep_pytorch_problem.restype = None
    return library
