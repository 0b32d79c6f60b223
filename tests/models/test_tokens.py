import pytest

from server.models.tokens import count_prompt, count_tokens, prompt_was_cut
from server.protocol import Usage


@pytest.mark.parametrize(
    ("text", "real"),
    [  # counts of current tokenisers, within a third to either side
        ("The quick brown fox jumps over the lazy dog. " * 20, 200),
        ("今天天气很好，我们一起去公园散步吧。" * 20, 240),
        ("def main() -> None:\n    print('hello')\n" * 20, 240),
    ],
)
def test_an_estimate_is_within_a_third_or_so(text: str, real: int) -> None:
    assert real * 0.6 <= count_tokens(text) <= real * 1.5


def test_no_text_has_no_tokens() -> None:
    assert count_tokens("") == 0


def test_a_prompt_counts_text_parts_and_no_pictures() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    with_picture = [{"role": "user", "content": [{"type": "text", "text": "word " * 100}, picture]}]
    assert count_prompt(with_picture) == count_prompt([{"role": "user", "content": "word " * 100}])


def test_a_prompt_of_which_a_part_was_read_was_cut() -> None:
    assert prompt_was_cut(Usage(prompt=2048, completion=1), 6000)


def test_an_estimate_that_is_merely_off_is_no_cut() -> None:
    assert not prompt_was_cut(Usage(prompt=4000, completion=1), 6000)
    assert not prompt_was_cut(Usage(prompt=20, completion=1), 100)
    assert not prompt_was_cut(Usage(prompt=0, completion=1), 6000)
