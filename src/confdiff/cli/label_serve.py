"""confdiff label serve: the server of studies, for annotators and owners."""

import socket
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from confdiff.cli.console import is_verbose, print_message, say, status
from confdiff.cli.label_options import opened
from confdiff.cli.options import argument, option, switch
from confdiff.display.text import plural

if TYPE_CHECKING:
    from confdiff.labelling.study import Study

_Studies = Annotated[
    list[str],
    argument(metavar="STUDY...", help="Files of studies, or addresses `postgresql://user@host/database?study=NAME`."),
]
_Host = Annotated[
    str, option(metavar="HOST", help="Address to listen at; 0.0.0.0 lets other machines reach the server.")
]
_Port = Annotated[int, option(min=0, max=65535, metavar="PORT", help="Port to listen at; 0 is any free one.")]
_Url = Annotated[
    str | None,
    option(metavar="URL", help="Address at which annotators reach the server, for the links that are printed."),
]
_BehindTls = Annotated[
    bool,
    switch("--behind-tls", help="A proxy terminates TLS: trust its headers, and send cookies through TLS only."),
]
_NewLinks = Annotated[
    bool, switch("--new-links", help="Replace the links of all annotators, and print the new ones; the old ones end.")
]
_Opens = Annotated[bool, switch("--open", help="Open the owner's page in the browser.")]


def serve_command(
    studies: _Studies,
    host: _Host = "127.0.0.1",
    port: _Port = 8000,
    url: _Url = None,
    behind_tls: _BehindTls = False,
    new_links: _NewLinks = False,
    opens: _Opens = False,
) -> None:
    """Serve studies to annotators and to their owner, until Ctrl-C.

    The link of the owner's page is printed at each start. Links of annotators are printed by `confdiff label invite`
    and on the owner's page; only digests of them are stored. With --verbose, each request is printed, without tokens.

    Example:
        confdiff label serve jokes.db
    """
    with status("opening the study"):
        from confdiff.labelling.app.serving import check_host, is_loopback, listen, serve_studies

        by_name = _studies_by_name(studies)
    check_host(host, by_name.values())
    if not is_loopback(host) and not behind_tls:
        print_message(
            "without TLS, others in the network can read links and answers: put a proxy with TLS in front, and pass "
            "--behind-tls.",
            label="warning:",
            style="bold yellow",
        )
    with listen(host, port) as listener, suppress(KeyboardInterrupt):
        address = url.rstrip("/") if url else _address(host, listener.getsockname()[1], behind_tls)
        owners = [_print_links(study, root, new_links) for study, root in _roots(by_name, address)]
        print_message("Ctrl-C ends the server.")
        if opens:
            webbrowser.open(owners[0])
        served = by_name if len(by_name) > 1 else next(iter(by_name.values()))
        serve_studies(served, listener, behind_tls=behind_tls, on_request=print_message if is_verbose() else None)
    for study in by_name.values():
        study.close_connections()
    print_message("the server has ended; all answers are saved")


def _studies_by_name(addresses: list[str]) -> "dict[str, Study]":
    by_name: dict[str, Study] = {}
    for address in addresses:
        study = opened(address)
        if study.name in by_name:
            other = by_name[study.name].address
            raise ValueError(f"{other} and {study.address} have the same name in addresses: serve one of them only.")
        by_name[study.name] = study
    return by_name


def _address(host: str, port: int, behind_tls: bool) -> str:
    """Return the address that links begin with, as far as this machine can say."""
    name = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    if behind_tls:
        return f"https://{socket.gethostname()}"
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _roots(by_name: "dict[str, Study]", address: str) -> "list[tuple[Study, str]]":
    """Return each study with the address of its pages: several have a folder each."""
    if len(by_name) == 1:
        return [(study, address) for study in by_name.values()]
    return [(study, f"{address}/s/{name}") for name, study in by_name.items()]


def _print_links(study: "Study", root: str, new_links: bool) -> str:
    """Print the links of a study, and return the owner's."""
    owner = f"{root}/owner/join/{study.owner_token()}"
    say(f"study: {study.settings.title or study.name}")
    say(f"owner: {owner}")
    annotators = [annotator for annotator in study.annotators() if not annotator.revoked]
    if new_links:
        for annotator in annotators:
            say(f"{annotator.name}: {root}/join/{study.invite(annotator.name).token}")
    elif annotators:
        links = "has a link" if len(annotators) == 1 else "have links"
        print_message(f"{plural(len(annotators), 'annotator')} {links}; --new-links replaces and prints them")
    else:
        print_message("no annotators yet: invite them on the owner's page, or with `confdiff label invite`")
    return owner
