import pytest
import torch
from small_translators import small, sources
from torch import nn

from remeasure.seq2seq.looking import equal_weights_on_answer, look
from remeasure.seq2seq.scoring import decode, score
from remeasure.seq2seq.tasks import LETTERS, TASKS, VOCABULARY_SIZE, random_batches
from remeasure.seq2seq.translator import Translator


class Rule(Translator):
    """Writes what a function says, from the source and what it has read so far."""

    def __init__(self, rule):
        super().__init__()
        self.rule = rule
        self.output = nn.Identity()

    def features(self, source_BS, shifted_BT):
        return nn.functional.one_hot(self.rule(source_BS, shifted_BT), VOCABULARY_SIZE).double()

    def weights(self, source_BS, shifted_BT):
        same = (TASKS["copy"](source_BS)[:, :, None] == source_BS[:, None, :]).double()
        uniform = torch.ones_like(same)
        heads = torch.stack([uniform, same], 1)
        return [heads / heads.sum(-1, keepdim=True)]


def answers(task):
    return lambda source_BS, shifted_BT: TASKS[task](source_BS)[:, : shifted_BT.shape[1]]


@pytest.mark.parametrize("task", TASKS)
def test_right_answers_are_right_and_shifted_ones_wrong(task):
    source_BS = sources(9, 20)
    assert score(Rule(answers(task)), task, source_BS) == {"token": 1.0, "sequence": 1.0}
    wrong = Rule(lambda s_BS, r_BT: (answers(task)(s_BS, r_BT) + 1) % len(LETTERS))
    assert score(wrong, task, source_BS) == {"token": 0.0, "sequence": 0.0}


def test_one_wrong_letter_spoils_a_string_and_no_more():
    def slip(source_BS, shifted_BT):
        answer_BT = answers("copy")(source_BS, shifted_BT).clone()
        answer_BT[:5, 2:3] = (answer_BT[:5, 2:3] + 1) % len(LETTERS)
        return answer_BT

    found = score(Rule(slip), "copy", sources(10, 20))
    assert found == {"token": pytest.approx(1 - 5 / 200), "sequence": 15 / 20}


def test_equal_chances_give_one_in_twenty_six():
    generator = torch.Generator().manual_seed(0)
    blind = Rule(lambda s_BS, r_BT: torch.randint(26, r_BT.shape, generator=generator))
    share = score(blind, "reverse", sources(32, 2000))["token"]
    assert share == pytest.approx(1 / 26, abs=5 * (1 / 26 / 64000) ** 0.5)


def test_one_pass_gives_the_accuracy_of_greedy_decoding(translator):
    """Trained a little, so that some strings are right and some are not."""
    draw = random_batches("sort", (1, 2), 64, torch.device("cpu"))
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(translator.parameters(), lr=0.02)
    for _ in range(80):
        optimizer.zero_grad()
        translator.loss(*draw(generator)).backward()
        optimizer.step()
    source_BS = sources(2, 400)
    written_BT = decode(translator, source_BS)
    right_B = (written_BT == TASKS["sort"](source_BS)).all(1)
    assert score(translator, "sort", source_BS)["sequence"] == float(right_B.double().mean())
    assert 0 < right_B.sum() < 400


def test_decoding_reads_what_it_wrote():
    counting = Rule(lambda source_BS, read_BT: (read_BT + 1) % VOCABULARY_SIZE)
    assert decode(counting, sources(4, 1)).tolist() == [[0, 1, 2, 3]]


def test_the_sharpest_head_is_found_and_shown():
    source_BS = torch.tensor([[0, 1, 2, 3], [4, 5, 4, 6]])
    found = look(Rule(answers("copy")), "copy", source_BS)
    assert found.sharpest == 1.0
    example = found.example
    assert (example["source"], example["target"], example["written"]) == ("abcd", "abcd", "abcd")
    assert (example["sharpest"]["layer"], example["sharpest"]["head"]) == (1, 2)
    assert example["sharpest"]["weights"] == torch.eye(4).tolist()
    (mean,) = example["layers"]
    assert mean == (0.125 + 0.5 * torch.eye(4)).tolist()


def test_what_equal_weights_put_on_the_answer_is_as_computed():
    source_BS = sources(12, 4000)
    hits = (source_BS[:, :, None] == source_BS[:, None, :]).double().mean()
    assert float(hits) == pytest.approx(equal_weights_on_answer(12), rel=0.02)


def test_one_vector_has_no_attention_to_show():
    assert look(small("lstm"), "copy", sources(4, 2)) is None
