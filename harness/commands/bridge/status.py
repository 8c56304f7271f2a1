"""`k3 bridge status`: every request on the remote, and how far it came."""

import json
from dataclasses import asdict, dataclass

from harness.bridge.exchange import Exchange, read_exchanges
from harness.bridge.git import Repository
from harness.bridge.manifest import RequestError
from harness.bridge.names import check_remote
from harness.bridge.results import read_result
from harness.commands.bridge.options import Remote, clone_here
from harness.commands.run.options import Json
from reports.printing.say import say
from reports.untrusted.one_line import one_line


@dataclass(frozen=True)
class Line:
    """A request as it is shown; `told` is what its executor says, and nothing that was checked here."""

    request: str
    state: str
    told: str


def command(remote: Remote = "origin", json_output: Json = False) -> None:
    """List the requests on the remote, and where each stands.

    Waiting, claimed by an executor, or answered.
    """
    repository = clone_here()
    lines = [_line(repository, exchange) for exchange in read_exchanges(repository, check_remote(remote))]
    if json_output:
        print(json.dumps([asdict(line) for line in lines], indent=1))
        return
    for line in lines:
        say(f"{line.state:<9} {line.request}  {line.told}".rstrip())


def _line(repository: Repository, exchange: Exchange) -> Line:
    return Line(exchange.name.short, exchange.state, _told(repository, exchange))


def _told(repository: Repository, exchange: Exchange) -> str:
    if exchange.result is None:
        return ""
    try:
        result = read_result(repository, exchange.result)
    except RequestError as error:
        return f"unreadable: {error}"
    verdicts = [f"{file.name} {' '.join((file.verdict, *file.codes))}" for file in result.files if file.verdict]
    return one_line("; ".join([result.outcome, *filter(None, [result.reason]), *verdicts]))
