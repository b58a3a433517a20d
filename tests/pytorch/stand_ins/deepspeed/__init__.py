from .runtime.engine import DeepSpeedEngine
