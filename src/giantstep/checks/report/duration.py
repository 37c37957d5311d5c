"""A time as text for people."""

__all__ = ["duration"]


def duration(seconds: float, *, rough: bool = False) -> str:
    """12.3 s, 4.5 min or 2.1 h; a rough estimate is no more exact than it is: about 20 s, about 3 min, about 1.5 h."""
    if seconds >= 5400:
        return f"{'about ' * rough}{seconds / 3600:.1f} h"
    if rough:
        tens = max(10, round(seconds / 10) * 10)
        return f"about {tens} s" if seconds < 55 else f"about {max(1, round(seconds / 60))} min"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
