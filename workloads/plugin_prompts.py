"""Prompts that a plug-in makes (`k3.workloads`): asked as code is, under the name of its entry point as their form."""

from dataclasses import dataclass
from typing import ClassVar

from reports.plugins.entry_points import Plugin, PluginError, attribute_at, find
from reports.records.plan import Texts
from workloads.base import Prompt, PromptStyle, Tokenizer, Workload


@dataclass(frozen=True)
class PluginPrompts:
    """The workload that a plug-in made for a run; its form is none of its choice.

    A prompt with an answer is scored as one of a user's own file is.
    """

    plugin: Plugin
    made: Workload
    samples: int

    name: ClassVar[str] = "code"

    @property
    def form(self) -> str:
        """The name of the entry point."""
        return self.plugin.name

    @property
    def texts(self) -> Texts | None:
        """As it says."""
        return self.made.texts

    @property
    def generator_version(self) -> int:
        """As it says."""
        return self.made.generator_version

    @property
    def style(self) -> PromptStyle:
        """As it says."""
        return self.made.style

    @property
    def seed(self) -> int:
        """As it was given."""
        return self.made.seed

    def prompts(self, tokenizer: Tokenizer) -> tuple[Prompt, ...]:
        """One prompt a sample, in order.

        Raises:
            ValueError: it failed, or made others than were asked for.
        """
        try:
            prompts = tuple(self.made.prompts(tokenizer))
        except (Exception, SystemExit) as error:  # another's code may raise anything
            raise ValueError(str(self.plugin.error(f"failed: {type(error).__name__}: {error}"))) from error
        if not all(isinstance(prompt, Prompt) for prompt in prompts):
            raise ValueError(str(self.plugin.error("made something that is no Prompt")))
        asked = [(sample, "main") for sample in range(self.samples)]
        if [(prompt.sample, prompt.prompt_set) for prompt in prompts] != asked or not all(p.tokens for p in prompts):
            problem = (
                f"made {len(prompts)} prompts; samples 0 to {self.samples - 1} of set main, in order, were asked for"
            )
            raise ValueError(str(self.plugin.error(problem)))
        return prompts


def plugin_prompts(form: str, samples: int, seed: int) -> PluginPrompts:
    """The workload of the plug-in called `form`: its entry point is called with `samples` and `seed`.

    Raises:
        PluginError: there is none, it cannot be loaded, or it makes no workload.
    """
    plugin = find("workloads", form)
    if plugin is None:
        raise PluginError(f"no plug-in makes workloads of form {form}")
    try:
        made = attribute_at(plugin.value, str(plugin))(samples=samples, seed=seed)
        told = (made.texts, made.generator_version, made.style, made.seed)
    except (Exception, SystemExit) as error:  # another's code may raise anything
        raise plugin.error(f"makes no workload: {type(error).__name__}: {error}") from error
    if told[3] != seed:
        raise plugin.error(f"made a workload of seed {told[3]}; {seed} was asked for")
    return PluginPrompts(plugin, made, samples)
