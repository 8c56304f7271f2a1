"""Needle prompts that an f_theta is tried on: recalled by the verifier, with everything restored, with nothing."""

from pathlib import Path

from harness.base.errors import ModelError, UsageError
from harness.engines.base import DecodeLimit, Engine
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from harness.engines.registry import build
from harness.engines.spec import EngineSettings, RestorationSpec
from harness.models.f_theta_folder import FThetaManifest, HeldOutRecall, read_manifest
from harness.models.folder.digest import weights_digest
from harness.models.model_text import ModelText
from harness.training.f_theta.export import put_manifest
from reports.engines import INCREMENTAL, ORACLE
from workloads.base import Prompt, StopPolicy
from workloads.niah import Niah

SINK, WINDOW = 4, 64
"""What every layer is bounded to; the first positions are never evicted, so nothing is fitted to them."""
SEED = 2**32
"""No preset's."""
MAX_NEW_TOKENS = 16


class RecallTrial:
    """The prompts of one verifier; what does not depend on the maps is measured once."""

    def __init__(self, verifier: Verifier, lines: int, count: int) -> None:
        """Make `count` prompts of haystacks of about `lines` lines.

        Raises:
            UsageError: haystacks in which every needle lies in the window of the question.
        """
        self._verifier, self._lines = verifier, lines
        self._text = ModelText(verifier.tokenizer, verifier.architecture.vocab)
        haystacks = Niah(lines, count, SEED, SINK, WINDOW, self._text.style("auto"))
        try:
            made = haystacks.prompts(self._text)
        except ModelError:
            raise
        except ValueError as error:
            raise UsageError(
                f"--recall-prompts: {lines} lines hold no needle outside the window; use more --lines"
            ) from error
        self._prompts: list[Prompt] = [prompt for prompt in made if prompt.prompt_set == "main"]
        self._limit = DecodeLimit(MAX_NEW_TOKENS, self._text.stop_tokens(StopPolicy()))
        self._apart: tuple[int, int] | None = None

    def of(self, folder: Path) -> HeldOutRecall:
        """Recall with the f_theta in `folder`, beside that of the verifier alone and with nothing put back."""
        if self._apart is None:
            ablated = RestorationSpec(restoration="ablate", sink=SINK, window=WINDOW)
            self._apart = self._recalled(ORACLE.name, RestorationSpec()), self._recalled(INCREMENTAL.name, ablated)
        spec = RestorationSpec(restoration="f_theta", sink=SINK, window=WINDOW, f_theta=str(folder))
        return HeldOutRecall(
            seed=SEED,
            lines=self._lines,
            prompts=len(self._prompts),
            verifier=self._apart[0],
            restored=self._recalled(INCREMENTAL.name, spec),
            ablated=self._apart[1],
        )

    def _recalled(self, name: str, spec: RestorationSpec) -> int:
        """How many codes an engine names."""
        engine = build(name, self._verifier, EngineSettings(restoration=spec))
        return sum(bool(prompt.scored(self._answer(engine, prompt))) for prompt in self._prompts)

    def _answer(self, engine: Engine, prompt: Prompt) -> str:
        session = engine.prefill(prompt.tokens)
        rest = [token for block in engine.decode(session, self._limit) for token in block.tokens]
        return self._text.answer_text([session.first_token, *rest])


def measure_recall(verifier: Path, folder: Path, lines: int, prompts: int) -> FThetaManifest:
    """Try existing maps on needle prompts and put their recall into their manifest; the weights stay as they are.

    Raises:
        UsageError: haystacks too small. ModelError: no whole f_theta of this verifier. OutputError: not writable.
    """
    manifest = read_manifest(folder)
    if weights_digest(folder) != manifest.weights:
        raise ModelError(f"{folder}: the weights are not those its manifest names; train it again")
    manifest = manifest.replace(recall=RecallTrial(load_verifier(verifier), lines, prompts).of(folder))
    put_manifest(folder, manifest)
    return manifest
