"""The section on top of a page whose claims still run: what runs, what is left, and when the page was written."""

from html import escape

from giantstep.checks.standing import Standing, about

__all__ = ["refresh", "unfinished"]

SECONDS = 10  # between two loads of a page that grows


def refresh(standing: Standing | None) -> str:
    """What makes a browser load the page again; nothing where no claim runs."""
    running = standing is not None and standing.running
    return f'<meta http-equiv="refresh" content="{SECONDS}">\n' if running else ""


def unfinished(standing: Standing | None, written: str) -> str:
    """The section, or nothing for a page that is complete; ``written`` is the time."""
    if standing is None:
        return ""
    left, ended = standing.seconds_left, len(standing.results)
    facts = {
        "Running": escape(", ".join(claim.name for claim in standing.running)),
        "Left": _left(standing),
        "Time left": f"{about(left)}, if the other claims take as long as those that have ended" if left else "",
    }
    rows = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in facts.items() if text)
    return f"""<section class="unfinished" aria-labelledby="unfinished--title">
<h2 id="unfinished--title">This report is incomplete</h2>
<p>{ended} of {_claims(standing.total)} {"has" if ended == 1 else "have"} ended. {_state(standing, written)}</p>
<dl>{rows}</dl>
</section>
"""


def _state(standing: Standing, written: str) -> str:
    again = "run the same command again, and it goes on where it was"
    if not standing.running:
        return f"The check was stopped at {written}: {again}."
    return (
        f"The page loads itself again every {SECONDS} seconds until all of them have. This page was being made when it was last "
        f"written at {written}; if that is long ago, the check was stopped: {again}."
    )


def _left(standing: Standing) -> str:
    """How many claims wait, and on a click which."""
    if not standing.left:
        return "no other claim"
    names = escape(", ".join(claim.name for claim in standing.left))
    return f"<details><summary>{_claims(len(standing.left))}</summary>\n<p>{names}</p></details>"


def _claims(count: int) -> str:
    return "1 claim" if count == 1 else f"{count} claims"
