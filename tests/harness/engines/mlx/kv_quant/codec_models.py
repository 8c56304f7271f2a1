"""Tiny random models whose heads are wide enough for every codec, and prompts for them."""

from collections.abc import Sequence
from functools import cache

from mlx_lm.models import gemma3_text, llama, qwen3

from harness.engines.codec_scores import Answers, StreamLimit
from harness.engines.mlx.kv_quant.codec_bench import SampleTokens
from harness.engines.mlx.verifier.load import Verifier
from tests.harness.tiny_models import SHAPE, prompt_of, verifier_of

WIDE = SHAPE | {"head_dim": 64}
LIMIT = StreamLimit(new_tokens=8, timed_tokens=12, stops={0: "eos"}, chunk=16)


def numbers(tokens: Sequence[int]) -> str:
    """Text of a model without a tokenizer: its token ids, as in `17 4 9`."""
    return " ".join(map(str, tokens))


@cache
def wide_llama() -> Verifier:
    """Three full-attention layers."""
    return verifier_of(llama.Model(llama.ModelArgs(model_type="llama", num_hidden_layers=3, **WIDE)), "llama")


@cache
def wide_qwen3() -> Verifier:
    """Two full-attention layers, keys normalised."""
    args = qwen3.ModelArgs(
        model_type="qwen3",
        num_hidden_layers=2,
        max_position_embeddings=512,
        rope_theta=10000.0,
        tie_word_embeddings=True,
        **WIDE,
    )
    return verifier_of(qwen3.Model(args), "qwen3")


@cache
def wide_gemma() -> Verifier:
    """Full attention at layers 1 and 3, the others sliding over 16 positions."""
    shape = WIDE | {"num_key_value_heads": 1, "query_pre_attn_scalar": 64}
    model = gemma3_text.Model(
        gemma3_text.ModelArgs(
            model_type="gemma3_text", num_hidden_layers=4, sliding_window=16, sliding_window_pattern=2, **shape
        )
    )
    model.sanitize({})
    return verifier_of(model, "gemma3_text")


def answers(wanted: str = "nothing") -> Answers:
    """Scores streams as numbers."""
    return Answers(numbers, LIMIT, {0: wanted})


def sample_tokens() -> SampleTokens:
    """Two questions that share 40 tokens, longer than the sliding window, and a text."""
    haystack, text = prompt_of(40), prompt_of(30, seed=5)
    return SampleTokens(
        main=(*haystack, *prompt_of(7, seed=1)),
        second=(*haystack, *prompt_of(5, seed=2)),
        haystack=40,
        held_out=tuple(text),
        scored_from=20,
    )
