"""Doctorings that leave a report admissible with a headline the run does not carry, and why no rule can tell.

The table is held to the campaign in both directions: what is not listed is caught, and what is listed gets through.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Why a file alone cannot show it; `title` is its heading in docs/gate.md."""

    title: str
    doctorings: tuple[str, ...]


REASONS = (
    # The times of an arm or of the baseline, scaled alike down to the blocks, keep every sum; bounds catch only what
    # no machine can do.
    Reason(
        "Whether the clock was read",
        (
            "jitter_rows_within_arm",
            "leave_out_verify",
            "scale_all_times_of_arm",
            "scale_decode_throughout",
            "scale_prefill_throughout",
            "shift_decode_into_prefill",
            "slow_oracle_and_null",
            "swap_times_of_rows",
            "tame_first_runs",
        ),
    ),
    # A report without a sample or a repeat is the report of a smaller run.
    Reason(
        "Which runs were left out",
        (
            "drop_codec_sample_everywhere",
            "remove_failed_arms",
        ),
    ),
    # Rows, prompts and blocks made of others, with noise and digests of their own.
    Reason(
        "Whether the run happened",
        ("invent_blocks",),
    ),
    # No tokeniser and no model at hand: tokens, texts and logit gaps are what the file says.
    Reason(
        "Whether the streams are the model's",
        (
            "alter_a_token_as_tie",
            "hide_collapse_throughout",
            "invent_control_stream",
            "invent_needle_free_stream",
            "invent_the_right_stream",
            "pad_early_stops",
            "replace_streams",
            "shrink_gaps",
        ),
    ),
    # Drafts, restored positions and fallbacks leave no trace but their number.
    Reason(
        "Whether what was counted happened",
        (
            "forge_mixed_rows",
            "forge_quick_restoration",
            "forge_restoration_throughout",
            "forge_warmups",
            "forget_rejected_drafts",
            "forget_some_rejected_drafts",
            "hide_the_peak",
            "merge_blocks",
            "pretend_blocks_throughout",
            "remove_fallbacks",
            "resident_as_freed",
        ),
    ),
    # What a thing is called, and the digest beside it, is a statement; only the thing itself can contradict it.
    Reason(
        "Whether names and digests are true",
        (
            "borrow_parity",
            "clean_the_tree",
            "edit_drafter_description",
            "edit_lookup_block_size",
            "forge_faithfulness",
            "forget_groups",
            "identity_as_f_theta_throughout",
            "invent_documents",
            "model_drafter_as_small_model",
            "name_files_instead",
            "other_commit",
            "other_dtype_compared",
            "other_machine",
            "other_preset",
            "other_verifier",
            "other_weights",
            "parity_of_other_runtime",
            "relabel_oracle_loop",
            "relabel_scope",
            "remove_imported_flag",
            "rename_runtime",
        ),
    ),
    # Codec errors and stored bytes, and the tokens of two runtimes, were measured on tensors that are not in the file.
    Reason(
        "Whether tensors were as measured",
        (
            "clean_the_identity_throughout",
            "copy_reference_tokens",
            "edit_codec_text",
            "inflate_reference_errors_throughout",
            "shrink_errors_throughout",
            "shrink_stored_bytes_throughout",
        ),
    ),
)

SURVIVORS = {name: reason for reason in REASONS for name in reason.doctorings}
"""Name of a doctoring to why it may get through."""
