"""Data as JSON shows them; it imports nothing that takes long, because the command line prints with it."""

import math
from typing import Any


def json_data(value: Any) -> Any:
    """Data as JSON has them: arrays are lists, and numbers that are not finite are null."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {key: json_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_data(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
