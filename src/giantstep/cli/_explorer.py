"""explore: the web explorer."""

import secrets
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from giantstep.cli._options import AsJson, show
from giantstep.errors import InputError


def explore(
    port: Annotated[int, typer.Option(metavar="P", help="Port to listen on; 0 chooses a free one.")] = 8050,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    allow_network: Annotated[
        bool, typer.Option("--allow-network", help="Allow an address that other machines can reach.")
    ] = False,
    token: Annotated[
        bool, typer.Option("--token", help="Answer only a browser that opens the printed address: for shared machines.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    report: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Report of 'giantstep check' whose figures are shown, if it exists.")
    ] = Path("report"),
    as_json: AsJson = False,
) -> None:
    """Serve the web explorer on this machine.

    The page has five views: one step, several steps in any dimension, what giant steps learn of a target, the claims, and the
    words they use. The explorer listens on a loopback address, loads nothing from the network, and stops with Ctrl-C.
    """
    if find_spec("dash") is None:
        raise InputError("The explorer needs one more package: pip install 'giantstep[explore]'.")
    from giantstep.explorer import Address, serve

    def ready(address: Address) -> None:
        if not address.loopback:
            typer.echo(
                f"Warning: anyone who can reach {address.host} can use this explorer and its processor.", err=True
            )
        if as_json:
            show({"url": address.url, "host": address.host, "port": address.port, "loopback": address.loopback})
        else:
            typer.echo(f"The explorer is at {address.url} (Ctrl-C stops it).")
        sys.stdout.flush()
        if browser:
            typer.launch(address.url)

    serve(
        Address(host, port, secrets.token_urlsafe() if token else ""),
        allow_network=allow_network,
        report=report,
        ready=ready,
    )
