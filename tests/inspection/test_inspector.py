"""The Inspector shows what the model did, and nothing else."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from bert import tiny_folder
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.exchange.bert import import_bert
from manyheads.inspection.alignment import align
from manyheads.inspection.inspector import Inspector, position_table
from manyheads.inspection.steps import Done, Step
from manyheads.runs.folder import RunFolder
from run_folders import make_run

TEXT = "15 novembre 2026"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run with random weights, whose outputs are of all lengths."""
    return make_run(tmp_path_factory.mktemp("runs") / "random", decoder_layers=2).path


@pytest.fixture(scope="module")
def inspector(run) -> Inspector:
    return Inspector(run, device="cpu")


@pytest.fixture(scope="module")
def translator(run) -> Translator:
    return Translator(run, engine="torch", device="cpu")


@pytest.fixture(params=["a run whose outputs find no end", "a run that has learned to copy"])
def case(request, inspector, translator) -> tuple[Inspector, Translator, str]:
    """An inspector, a translator of the same run, and a text for both."""
    if "copy" not in request.param:
        return inspector, translator, TEXT
    run = request.getfixturevalue("copy_run")
    return Inspector(run, device="cpu"), Translator(run, engine="torch", device="cpu"), "a b c d"


def test_what_is_shown_is_what_the_translator_translates(case):
    inspector, translator, text = case
    for beam in (None, 1, 3):
        seen = inspector.everything(text, beam=beam)
        (found,) = translator.translations([text], beam=beam)
        assert (seen.translation, seen.target_ids) == (found.text, found.candidates[0].tokens)
        assert seen.score == found.candidates[0].score


def test_the_probabilities_shown_are_those_of_the_returned_hypothesis(case):
    inspector, _, text = case
    seen = inspector.everything(text, beam=4)
    assert np.allclose(seen.probabilities.sum(axis=1), 1.0, atol=1e-5)
    assert np.log(seen.token_probabilities).sum() == pytest.approx(seen.log_probability, abs=1e-3)


def test_a_given_target_takes_the_translations_place(inspector, translator):
    seen = inspector.everything(TEXT, target="2026-11-15")
    assert seen.translation == "2026-11-15"
    (scores,) = translator.score([TEXT], ["2026-11-15"])
    assert np.allclose(np.log(seen.token_probabilities), scores, atol=1e-4)


def test_every_array_has_the_shape_that_its_tokens_say(inspector):
    seen = inspector.everything(TEXT)
    source, target = len(seen.source_tokens), len(seen.target_tokens)
    assert seen.attention["encoder"].shape == (2, 4, source, source)
    assert seen.attention["decoder"].shape == (2, 4, target, target)
    assert seen.attention["cross"].shape == (2, 4, target, source)
    assert {stack: one.shape for stack, one in seen.states.items()} == {
        "encoder": (3, source, 32),
        "decoder": (3, target, 32),
    }
    assert {stack: one.shape for stack, one in seen.norms.items()} == {"encoder": (3, source), "decoder": (3, target)}
    assert seen.target_inputs == ["<s>", *seen.target_tokens[:-1]]


def test_the_states_begin_with_the_embeddings_and_end_with_the_input_of_the_output_layer(run, inspector):
    import torch

    seen = inspector.everything(TEXT)
    model, folder = inspector.model, RunFolder.open(run)
    ids = torch.tensor([[*folder.tokenizers().source.encode(TEXT), folder.config().end]])
    with torch.no_grad():
        assert np.allclose(model.source(ids)[0].numpy(), seen.embeddings["encoder"], atol=1e-6)
        hidden = model.decoder.final_norm(torch.from_numpy(seen.states["decoder"][-1]))
        assert np.allclose(model.logits(hidden).softmax(dim=-1).numpy(), seen.probabilities, atol=1e-6)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_layers_are_counted_from_one_and_the_last_is_shown_where_none_is_named(inspector, kind):
    seen = inspector.everything(TEXT)
    for number, weights in enumerate(seen.attention[kind], start=1):
        view = seen.view(kind, number)
        assert (view.layer, view.to_json()["layer"]) == (number, number)
        assert np.array_equal(view.weights, weights)
    last = inspector.attention(TEXT, kind=kind)
    assert last.to_json() == inspector.attention(TEXT, kind=kind, layer=seen.layers[kind]).to_json()


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_one_layer_has_the_keys_of_the_contract_and_rows_that_sum_to_one(inspector, kind):
    view = inspector.attention(TEXT, kind=kind, layer=1).to_json()
    assert list(view) == [
        "translation",
        "score",
        "kind",
        "layer",
        "layers",
        "heads",
        "queries",
        "keys",
        "source_tokens",
        "target_tokens",
        "weights",
    ]
    assert json.loads(json.dumps(view)) == view
    weights = np.array(view["weights"])
    assert weights.shape == (view["heads"], len(view["queries"]), len(view["keys"]))
    assert np.allclose(weights.sum(axis=-1), 1.0, atol=1e-3)
    assert (kind == "decoder") == (view["keys"][0] == "<s>")


def test_the_steps_are_those_of_greedy_search_and_each_shows_where_it_looked(case):
    inspector, translator, text = case
    *steps, end = inspector.steps(text, candidates=3)
    (greedy,) = translator.translations([text], beam=1)
    assert isinstance(end, Done)
    assert end.to_json() == {"done": True, "translation": greedy.text}
    assert [one.step for one in steps] == list(range(1, len(steps) + 1))
    seen = inspector.everything(text, beam=1)
    assert [one.token for one in steps] == seen.target_tokens
    assert np.allclose([one.probability for one in steps], seen.token_probabilities, atol=1e-5)
    assert np.allclose(np.stack([one.cross for one in steps], axis=1), seen.attention["cross"][-1], atol=1e-5)
    for one in steps:
        probabilities = [candidate.probability for candidate in one.candidates]
        assert probabilities == sorted(probabilities, reverse=True) and len(probabilities) == 3
        assert one.candidates[0].token == one.token


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_the_tree_holds_the_search_and_its_hypotheses_add_up(case, beam):
    inspector, translator, text = case
    tree = inspector.beam(text, beam=beam)
    (found,) = translator.translations([text], beam=beam, n_best=beam)
    assert [(one.text, one.score) for one in tree.hypotheses] == [(one.text, one.score) for one in found.candidates]
    assert [node.id for node in tree.nodes] == list(range(len(tree.nodes)))
    root, *others = tree.nodes
    assert (root.parent, root.step, root.token, root.log_probability) == (None, 0, "<s>", 0.0)
    for node in others:
        parent = tree.nodes[node.parent]
        assert parent.id < node.id and parent.step == node.step - 1
        assert node.log_probability <= parent.log_probability + 1e-6
    for one, candidate in zip(tree.hypotheses, found.candidates, strict=True):
        assert path(tree, one.node) == translator.tokenizers.target.pieces(candidate.tokens)
        assert tree.nodes[one.node].log_probability == pytest.approx(one.log_probability, abs=1e-5)


@pytest.mark.parametrize("beam", [1, 4])
def test_every_node_has_the_right_state(case, beam):
    inspector, _, text = case
    tree = inspector.beam(text, beam=beam)
    extended = {node.parent for node in tree.nodes}
    best = path(tree, tree.hypotheses[0].node)
    assert [node.token for node in tree.nodes if node.state == "best"] == ["<s>", *best]
    states = {node.state for node in tree.nodes}
    assert states >= ({"best", "dropped", "kept"} if beam > 1 else {"best"})
    for node in tree.nodes:
        if node.state == "kept":
            assert node.id in extended
        if node.state in ("dropped", "finished"):
            assert node.id not in extended
            assert (node.token == "</s>") == (node.state == "finished")
    for step in range(1, max(node.step for node in tree.nodes) + 1):
        live = [node for node in tree.nodes if node.step == step and node.token != "</s>"]
        assert len(live) <= beam


def test_finished_hypotheses_are_distinguished_from_dropped_ones(copy_run):
    tree = Inspector(copy_run, device="cpu").beam("a b c d", beam=4)
    ends = {one.node for one in tree.hypotheses}
    assert {tree.nodes[one].state for one in ends} == {"best", "finished"}
    assert {node.id for node in tree.nodes if node.state == "finished"} >= ends - {tree.hypotheses[0].node}


def path(tree, number: int) -> list[str]:
    """Return the tokens from the start to a node."""
    tokens: list[str] = []
    while tree.nodes[number].parent is not None:
        tokens.append(tree.nodes[number].token)
        number = tree.nodes[number].parent
    return tokens[::-1]


def test_an_output_that_finds_no_end_can_be_looked_at_too(tmp_path):
    run = make_run(tmp_path / "endless", seed=1)
    recipe = run.recipe_file.read_text().replace("extra_length: 50", "extra_length: 0")
    run.recipe_file.write_text(recipe)
    seen = Inspector(run.path).everything("1")
    assert seen.attention["cross"].shape[2] == len(seen.target_tokens) == 1


def test_nothing_stays_in_the_model(inspector):
    iterator = inspector.steps(TEXT)
    next(iterator)
    inspector.everything(TEXT)
    model = inspector.model
    assert all(part.observer is None for part in model.modules() if isinstance(part, MultiHeadAttention))
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def test_threads_that_inspect_at_the_same_time_get_the_same_as_alone(run, inspector):
    texts = [f"{day} mai 2031" for day in range(1, 7)]
    alone = {text: inspector.everything(text).to_json() for text in texts}
    shared = Inspector(run, device="cpu")  # a new one, whose cache of searches is empty
    together: dict[str, object] = {}
    start = threading.Barrier(len(texts))

    def look(text: str) -> None:
        start.wait()
        together[text] = shared.everything(text).to_json()
        list(shared.steps(text))

    threads = [threading.Thread(target=look, args=[text]) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda one: one.attention(TEXT, kind="cross", layer=3), ["no layer 3", "1 to 2"]),
        (lambda one: one.attention(TEXT, kind="cross", layer=0), ["no layer 0", "counted from 1"]),
        (lambda one: one.attention(TEXT, kind="crss", layer=1), ["no attention 'crss'", "'cross'"]),
        (lambda one: one.attention(TEXT, kind="cross", layer=1, beam=0), ["beam must be at least 1"]),
        (lambda one: one.everything("  "), ["empty text"]),
        (lambda one: one.steps(""), ["empty text"]),
        (lambda one: one.steps(TEXT, candidates=0), ["at least 1"]),
        (lambda one: one.beam(TEXT, beam=0), ["at least 1"]),
    ],
)
def test_a_wrong_argument_is_an_error_at_once(inspector, call, words):
    with pytest.raises(ManyheadsError) as caught:
        call(inspector)
    for word in words:
        assert word in str(caught.value)


# --- BERT ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> Inspector:
    folder = tmp_path_factory.mktemp("bert")
    import_bert(tiny_folder(folder / "hugging_face"), folder / "run")
    return Inspector(folder / "run", device="cpu")


def test_a_bert_shows_its_encoder(reader):
    view = reader.attention("a the b", kind="encoder", layer=1)
    assert view.queries == view.keys == ["[CLS]", "a", "th", "##e", "b", "[SEP]"]
    assert view.weights.shape == (4, 6, 6)
    assert view.layers == {"encoder": 2, "decoder": 0, "cross": 0}
    assert (view.translation, view.target_tokens) == ("", [])
    assert reader.everything("a the b").norms["encoder"].shape == (3, 6)


def test_a_tab_separates_the_texts_of_a_pair(reader):
    assert reader.everything("a\tb").source_tokens == ["[CLS]", "a", "[SEP]", "b", "[SEP]"]


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda one: one.attention("a", kind="cross"), "no cross attention"),
        (lambda one: one.steps("a"), "reads but does not write"),
        (lambda one: one.beam("a"), "reads but does not write"),
        (lambda one: one.everything(""), "empty text"),
        (lambda one: one.everything("a " * 30), "more tokens"),
    ],
)
def test_a_bert_has_no_decoder(reader, call, word):
    with pytest.raises(ManyheadsError, match=word):
        call(reader)


def test_bertviz_gets_a_list_of_layers_for_each_kind_and_as_many_tokens_as_they_have(inspector, reader):
    seen = inspector.everything(TEXT)
    given = seen.for_bertviz()
    sides = {"encoder": ("encoder", "encoder"), "decoder": ("decoder", "decoder"), "cross": ("decoder", "encoder")}
    for kind, (queries, keys) in sides.items():
        layers = given[f"{kind}_attention"]
        shape = (1, seen.heads, len(given[f"{queries}_tokens"]), len(given[f"{keys}_tokens"]))
        assert [tuple(layer.shape) for layer in layers] == [shape] * seen.layers[kind]
        assert np.array_equal(layers[-1][0].numpy(), seen.attention[kind][-1])
    alone = reader.everything("a b").for_bertviz()
    assert set(alone) == {"attention", "tokens"} and alone["attention"][0].shape[-1] == len(alone["tokens"])


# --- Positions -------------------------------------------------------------------------------------------------------


def test_the_table_of_positions_has_the_papers_numbers():
    table = position_table(length=7, width=6)
    assert table.encodings.shape == (7, 6) and table.dot_products.shape == (7, 7)
    assert np.allclose(np.diag(table.dot_products), 3.0, atol=1e-5)  # sin² + cos² for each of three wavelengths
    assert table.encodings[5, 2] == pytest.approx(np.sin(5 / 10000 ** (2 / 6)), abs=1e-6)
    assert set(table.to_json()) == {"encodings", "dot_products"}


@pytest.mark.parametrize(("length", "width"), [(0, 4), (4, 0), (100_000, 4)])
def test_an_impossible_table_is_refused(length, width):
    with pytest.raises(ManyheadsError, match="between 1 and"):
        position_table(length, width)


# --- Models with one head, or without attention ----------------------------------------------------------------------


def test_the_attention_of_a_recurrent_model_is_shown_like_a_transformers(tmp_path):
    inspector = Inspector(make_run(tmp_path / "recurrent", kind="recurrent", input_feeding=True).path, device="cpu")
    assert inspector.main_kind == "cross"
    view = inspector.attention(TEXT, kind="cross")
    assert view.weights.shape == (1, len(view.target_tokens), len(view.source_tokens))
    assert np.allclose(view.weights.sum(axis=-1), 1.0, atol=1e-5)
    steps = [
        one for one in inspector.steps(TEXT, tokens=inspector.everything(TEXT).target_ids) if isinstance(one, Step)
    ]
    assert np.allclose(np.stack([one.cross for one in steps], axis=1), view.weights, atol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda one: one.main_kind,
        lambda one: one.attention(TEXT, kind="cross"),
        lambda one: align(one.everything(TEXT)),
        lambda one: list(one.steps(TEXT)),
    ],
)
def test_a_model_without_attention_says_so_and_shows_its_beam(tmp_path, call):
    run = make_run(tmp_path / "fixed", kind="recurrent", source_attention="none")
    inspector = Inspector(run.path, device="cpu")
    with pytest.raises(ManyheadsError, match="has no attention"):
        call(inspector)
    assert inspector.beam(TEXT, beam=2).nodes
