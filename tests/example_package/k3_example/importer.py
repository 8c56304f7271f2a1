"""An importer: the text a small benchmark prints, `arm TAB tokens TAB seconds`, a run a line under a heading."""

import k3

HEADING = "# example timings"


def _recognises(source: k3.Source) -> bool:
    return source.text and isinstance(source.value, str) and source.value.startswith(HEADING)


def _load(source: k3.Source) -> k3.Report:
    rows: dict[str, list[k3.Measurement]] = {}
    for number, line in enumerate(source.value.splitlines()[1:], start=2):
        try:
            arm, tokens, seconds = line.split("\t")
            own = rows.setdefault(arm, [])
            own.append(k3.Measurement(sample=len(own), repeat=0, decode_tokens=int(tokens), decode_s=float(seconds)))
        except ValueError as error:
            raise k3.ForeignFormatError(f"line {number}: no arm, tokens and seconds between tabs") from error
    return k3.Report(
        kind="benchmark",
        report_id=f"timings-{source.digest.removeprefix('sha256:')[:16]}",
        imported=k3.mark(IMPORTER.name, source, ["no token ids, no models, no prompts"]),
        provenance=k3.Provenance(),
        workload=k3.WorkloadInfo(name="timings"),
        arms=tuple(
            k3.Arm(name=name, role="peer", engine="timings", measurements=tuple(own)) for name, own in rows.items()
        ),
    )


IMPORTER = k3.Importer("k3-example:timings", _recognises, _load)
