"""Lockstep's start-up hook: Python runs it in every process that `lockstep record` starts.

Lean, because it runs in interpreters that have nothing to do with training: no imports beyond what the
interpreter has loaded by now. It waits for torch to be imported, if it ever is, and runs the sitecustomize
that would have run without us.
"""
import os
import sys


_waited_for = {}  # by module: what to do once it has been imported


class Finder:
    """Stands before all others while a module is waited for, and says nothing of any other.

    Who asks for a spec need not import it (transformers and datasets ask importlib.util.find_spec("torch") first): a
    module is waited for until it has been executed.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        actions = _waited_for.pop(name, None)  # meanwhile: other finders may ask in turn
        if actions is None:
            return None
        try:
            for finder in list(sys.meta_path):
                if finder is Finder:
                    continue
                spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
                if spec is not None:
                    break
            else:
                return None  # it may come yet
        finally:
            _waited_for[name] = actions
        loader = spec.loader
        original = getattr(loader, "exec_module", None)
        if original is None:
            return spec

        def exec_module(module):
            try:
                del loader.exec_module
            except AttributeError:
                pass
            original(module)
            actions = _waited_for.pop(name, ())
            if not _waited_for and Finder in sys.meta_path:
                sys.meta_path.remove(Finder)
            for action in actions:
                try:
                    action()
                except Exception:  # whatever it is, the program goes on without us
                    if os.environ.get("LOCKSTEP_DEBUG"):
                        raise

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass
        return spec


def _when_imported(wanted, action):
    """Calls action() once the module of that name has been imported, whenever that is."""
    if not _waited_for and Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)
    _waited_for.setdefault(wanted, []).append(action)


def _install(folder):
    from importlib.machinery import SourceFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    loader = SourceFileLoader("_lockstep_pytorch", os.path.join(folder, "lockstep_pytorch.py"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    module.install(_when_imported)


def _run_the_next(folder):
    """Runs the sitecustomize behind ours on the path, as Python would have done."""
    finder = next((f for f in sys.meta_path if getattr(f, "__name__", "") == "PathFinder"), None)
    if finder is None:
        return
    spec = finder.find_spec("sitecustomize", [p for p in sys.path if p != folder])
    if spec is None or spec.loader is None:
        return
    from _frozen_importlib import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_folder = os.path.dirname(os.path.abspath(__file__))
if os.environ.get("LOCKSTEP_RUN") and os.environ.get("LOCKSTEP_PYTHON_HOOK", "on") != "off":
    _when_imported("torch", lambda: _install(_folder))
# The program's own modules are looked for where it expects them; what it starts still finds us by PYTHONPATH.
sys.path[:] = [p for p in sys.path if p != _folder]
_run_the_next(_folder)
