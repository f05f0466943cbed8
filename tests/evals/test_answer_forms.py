"""``-T answer=``: what is sent with schemas and for probabilities, how it is scored, and what is
refused ahead.
"""

import json
import re
from unittest.mock import MagicMock

import click
import pytest
from inspect_ai.model import GenerateConfig, get_model

from music_evals.evals import lilybench, mmau, msu, muse, musictheorybench, ziqi
from music_evals.reports.records import read_records
from music_evals.solvers.abilities import made_for
from tests.evals.openai_server import openai_server
from tests.golden.record import HERE as GOLDEN
from tests.harness import metrics, run, samples
from tests.lilybench_dataset import write_small

MSU = str(GOLDEN / "data" / "msu")
Reply = str | dict[str, float]


def served(task, folder, reply, **options):
    """Run a task on a server of this test; return the log and the requests."""
    provider = options.pop("provider", "openai-api")
    respond = reply if callable(reply) else lambda _: reply
    with openai_server(respond) as (address, requests):
        model = get_model(f"{provider}/local/m", base_url=address, api_key="none", memoize=False)
        (log,) = run(task, folder, model, **{"limit": 4, **options})
    return log, requests


def schema_of(request):
    sent = request["response_format"]
    assert (sent["type"], sent["json_schema"]["strict"]) == ("json_schema", True)
    schema = sent["json_schema"]["schema"]
    assert schema["required"] == list(schema["properties"])
    return schema


def main_scores(log):
    return [next(iter((sample.scores or {}).values())) for sample in samples(log)]


def test_a_refusal_and_what_keeps_to_no_schema(tmp_path):
    replies = iter(
        ['{"answer": "cannot tell"}', "Final Answer: B", '{"answer": "E"}', '{"answer": "A"}']
    )
    log, _ = served(
        muse.chord_quality(answer="schema"), tmp_path, lambda _: next(replies), max_connections=1
    )
    readings = sorted(score.metadata["reading"] for score in main_scores(log))
    assert readings == ["answered", "refused", "unreadable", "unreadable"]


def test_twelve_questions_are_an_object_with_their_types(tmp_path):
    task = msu.textual(dataset=MSU, answer="schema", cache=False)
    questions = next(iter(task.dataset)).metadata["questions"]  # type: ignore[index]
    typed = {"number": int, "pitches": lambda text: text.split(", ")}
    right = {
        str(number): typed.get(question["answer_type"], str)(question["answer"])
        for number, question in enumerate(questions, 1)
    }
    log, requests = served(task, tmp_path, json.dumps(right), limit=1)
    fields = schema_of(requests[0])["properties"]
    assert list(fields) == list(right)
    for number, question in enumerate(questions, 1):
        assert (fields[str(number)].get("enum") is not None) == (
            question["answer_type"] == "yes_no"
        )
    (score,) = main_scores(log)
    assert score.value == 1
    _, requests = served(
        msu.textual(dataset=MSU, answer="schema", asking="single", cache=False),
        tmp_path,
        '{"answer": "3/4"}',
        limit=1,
    )
    assert list(schema_of(requests[0])["properties"]) == ["answer"]


LETTERS = {" A": 0.4, "B": 0.2, " B": 0.3, "The": 0.1}


def test_no_letter_among_the_tokens_is_unread_and_no_probabilities_are_no_score(
    tmp_path,
):
    log, _ = served(muse.chord_quality(answer="likelihood"), tmp_path / "a", {"The": 0.9, "I": 0.1})
    assert {score.metadata["reading"] for score in main_scores(log)} == {"unreadable"}
    assert (
        metrics(log)["final_answer"] | {"accuracy": 0, "probability": 0}
        == metrics(log)["final_answer"]
    )
    assert read_records(log.location).runs["unread"].tolist() == [1]
    log, _ = served(muse.chord_quality(answer="likelihood"), tmp_path / "b", "B")
    assert {score.reason for score in main_scores(log)} == {"scoring_failed"}


def test_worked_examples_end_as_the_question_does(tmp_path):
    _, requests = served(
        muse.chord_quality(answer="likelihood", shots="few"), tmp_path / "a", LETTERS, limit=1
    )
    (message,) = requests[0]["messages"]
    examples = re.findall(r"^Final Answer: [A-D]$", message["content"], re.MULTILINE)
    assert len(examples) >= 2
    _, requests = served(
        muse.transposition(answer="likelihood", shots="few"), tmp_path / "b", LETTERS, limit=1
    )
    (message,) = requests[0]["messages"]
    assert message["content"].endswith("\n\nAnswer:")
    assert re.findall(r"^Answer: (?:Yes|No),", message["content"], re.MULTILINE)
    _, requests = served(
        ziqi.comprehension(answer="likelihood", shots="five"), tmp_path / "c", LETTERS, limit=1
    )
    assert requests[0]["messages"][0]["content"].endswith("[[答案：")


def test_sentences_are_told_apart_by_their_first_words(tmp_path):
    task = muse.transposition(answer="likelihood")
    log, _ = served(task, tmp_path, {" Yes": 0.3, "No": 0.6, "Maybe": 0.1})
    for sample, score in zip(samples(log), main_scores(log), strict=True):
        assert str(score.answer).startswith("No")
        is_no = str(sample.target).startswith("No")
        assert score.metadata["probability"] == pytest.approx(2 / 3 if is_no else 1 / 3)
        assert score.value == ("C" if is_no else "I")


def test_a_model_of_hf_without_a_chat_template(tmp_path):
    """GPT-2 of random weights: the prompt arrives as it is, and nothing follows the words ahead of
    the letter.
    """
    torch = pytest.importorskip("torch", reason="needs the extra 'hf'")
    transformers = pytest.importorskip("transformers", reason="needs the extra 'hf'")
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra 'hf'")
    torch.manual_seed(0)
    pieces = tokenizers.Tokenizer(tokenizers.models.BPE())
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<end>"], initial_alphabet=alphabet
    )
    pieces.train_from_iterator(["Final Answer: A B C D"] * 9, trainer)
    folder = tmp_path / "gpt2"
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=pieces, eos_token="<end>"
    ).save_pretrained(folder)
    size = {
        "n_embd": 16,
        "n_layer": 1,
        "n_head": 1,
        "n_positions": 4096,
        "vocab_size": pieces.get_vocab_size(),
    }
    config = transformers.GPT2Config(**size, bos_token_id=0, eos_token_id=0)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    name, template = f"hf/{folder}", "{{ messages[0].content }}"
    bare = get_model(name, memoize=False)
    with (
        made_for(bare),
        pytest.raises(click.ClickException, match=r"has no chat template.*messages\[0\]\.content"),
    ):
        musictheorybench.knowledge(answer="likelihood")
    model = get_model(name, chat_template=template, memoize=False)
    with made_for(model):
        task = musictheorybench.knowledge(answer="likelihood")
    prompt = next(iter(task.dataset)).input[0]
    assert model.api.hf_chat([prompt], []) == prompt.text  # type: ignore[attr-defined, union-attr]
    assert prompt.text.endswith("\n\nFinal Answer:")  # type: ignore[union-attr]
    (log,) = run(task, tmp_path, model, limit=2)
    for score in main_scores(log):
        assert score.metadata["reading"] in ("answered", "unreadable")
        assert 0 <= score.metadata["options_mass"] <= 1


def model_named(name):
    spec = ("base_url", "api_key", "tokenizer", "generate", "should_retry", "retry_wait")
    api = MagicMock(spec=spec, base_url="http://127.0.0.1:9/v1")
    return MagicMock(api=api, model_args={}, config=GenerateConfig(), __str__=lambda _: name)


@pytest.mark.parametrize(
    ("name", "form", "message"),
    [
        ("hf/m", "schema", "'hf' does not"),
        ("deepseek/m", "schema", "'deepseek' does not"),
        ("vllm-completions/m", "schema", "'vllm-completions' does not"),
        ("baseline/chance", "schema", "'baseline' does not"),
        ("bedrock/amazon.nova", "schema", "'bedrock' does not"),
        ("bedrock/anthropic.claude", "schema", None),
        ("vllm/m", "schema", None),
        ("anthropic/m", "schema", None),
        ("anthropic/m", "likelihood", "'anthropic' returns none"),
        ("baseline/chance", "likelihood", "'baseline' returns none"),
        ("vllm-completions/m", "likelihood", None),
        ("vllm-completions/m", "text", "cannot be asked in several messages"),
        ("hf/m", "likelihood", None),
    ],
)
def test_a_provider_is_refused_by_name_in_one_line(name, form, message):
    with made_for(model_named(name)):
        if message is None:
            muse.chord_quality(answer=form)
            return
        with pytest.raises(click.ClickException, match=message) as error:
            muse.chord_quality(answer=form)
        assert "\n" not in error.value.message


def test_a_program_is_refused_at_its_first_sample(tmp_path):
    from inspect_ai import eval as inspect_eval

    (log,) = inspect_eval(
        muse.chord_quality(answer="schema"),
        model="baseline/chance",
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "error"
    assert "'baseline' does not" in str(log.error and log.error.message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: muse.syncopation(answer="schema", strategy="logiclm"),
            "answer=schema is not valid with strategy=logiclm",
        ),
        (
            lambda: muse.syncopation(answer="schema", chat="continued"),
            "not valid with chat=continued",
        ),
        (lambda: muse.syncopation(answer="likelihood", strategy="cot"), "no room to reason"),
        (
            lambda: ziqi.comprehension(answer="schema", protocol="paper"),
            "not valid with protocol=paper",
        ),
        (
            lambda: ziqi.comprehension(answer="likelihood", twin="completion"),
            "not valid with twin=completion",
        ),
        (lambda: msu.textual(dataset=MSU, answer="likelihood"), "valid values are: text, schema"),
        (lambda: mmau.music(answer="likelihood", prompt="paper"), "begin alike|first words"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(make, message):
    with pytest.raises(click.ClickException, match=message) as error:
        make()
    assert "\n" not in error.value.message


def test_a_number_has_no_probabilities(tmp_path):
    with pytest.raises(click.ClickException, match="needs options"):
        lilybench.bar_count(dataset=str(write_small(tmp_path)), answer="likelihood")
