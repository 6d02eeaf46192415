"""Every figure by its name, which is also the name of its file."""

from collections.abc import Callable, Mapping

from remeasure.figures import (
    average,
    companion,
    cost,
    induction,
    ladder,
    masked,
    norm,
    normalisation,
    parameters,
    positions,
    recurrent,
    referent,
    scaling,
    seq2seq,
    shares,
    style,
    svg,
)
from remeasure.figures.picture import Picture
from remeasure.records.results import Results

FIGURES: Mapping[str, Callable[[Results], Picture]] = {
    function.__name__: function
    for function in (
        average.averaging_matrix,
        average.average_rows,
        scaling.score_deviation,
        scaling.effective_tokens,
        scaling.frozen_rows,
        scaling.division_gain,
        scaling.runaway,
        scaling.runaway_rows,
        ladder.ladder,
        ladder.learning_curves,
        ladder.overfitting,
        parameters.parameters_one_block,
        parameters.parameters_gpt2,
        norm.gradient_output_projection,
        norm.gradient_block,
        norm.norm_runs,
        positions.window_lengths,
        cost.cost_time,
        cost.cost_memory,
        cost.kv_cache,
        referent.referent_accuracy,
        referent.referent_curves,
        referent.referent_curves_low_rate,
        referent.attention_map,
        recurrent.gradient_at_start,
        recurrent.gradient_at_end,
        recurrent.sequence_cost,
        masked.masked_accuracy,
        masked.masked_orders,
        normalisation.norm_modes,
        seq2seq.seq2seq_lengths,
        seq2seq.seq2seq_curves,
        seq2seq.seq2seq_attention,
        companion.residual_stream,
        companion.leak,
        induction.induction_loss,
        induction.induction_heads,
        shares.heads_shared,
        shares.feed_forward_shared,
    )
}


def draw(name: str, results: Results) -> Picture:
    """The figure of that name, in our style."""
    with style.applied():
        return FIGURES[name](results)


def draw_inline(name: str, results: Results) -> str:
    """The figure of that name as SVG for an HTML page."""
    return svg.inline(draw(name, results), name)
