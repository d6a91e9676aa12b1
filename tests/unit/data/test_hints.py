"""What is looked for before a pattern never hides what the pattern would find."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.data.checks import CHECKS, personal, secrets
from surefit.data.checks.pattern import PatternCheck
from surefit.data.checks.personal import personal_data_in
from surefit.data.checks.secrets import secret_in

HINTED = [check for check in CHECKS if issubclass(check, PatternCheck) and check.hints]
BEYOND = [check for check in CHECKS if issubclass(check, PatternCheck) and check.beyond_ascii]


@pytest.mark.parametrize("check", HINTED, ids=lambda check: check.code)
@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_what_a_pattern_finds_has_one_of_its_hints(
    check: type[PatternCheck], data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(check.pattern, alphabet=st.characters(max_codepoint=127)))
    looked_into = text.lower() if check.any_case else text
    assert any(hint in looked_into for hint in check.hints)


@pytest.mark.parametrize("check", BEYOND, ids=lambda check: check.code)
@given(text=st.text(st.characters(max_codepoint=127)))
def test_a_pattern_of_characters_beyond_ascii_finds_nothing_in_ascii(
    check: type[PatternCheck], text: str
) -> None:
    assert check.pattern.search(text) is None


@pytest.mark.parametrize("kind_and_form", secrets._EACH, ids=lambda one: one[1].pattern[:24])
@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_every_form_of_a_secret_is_found(
    kind_and_form: tuple[str, re.Pattern[str]], data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(kind_and_form[1]))
    assert secret_in(text) is not None


NUMBERS = (
    "4111 1111 1111 1111",
    "378282246310005",
    "5555-5555-5555-4444",
    "DE89 3704 0044 0532 0130 00",
    "GB29NWBK60161331926819",
    "4111 1111 1111 1112",
    "1234",
    "2026",
)


def _by_patterns_alone(text: str) -> str | None:
    if re.search(r"\d{4}", text) is None:
        return None
    if any(personal._is_card(found.group()) for found in personal._CARD.finditer(text)):
        return "a payment card number"
    if any(personal._is_account(found.group()) for found in personal._ACCOUNT.finditer(text)):
        return "a bank account number (IBAN)"
    return None


@given(
    st.lists(
        st.sampled_from(NUMBERS) | st.text("0123456789 -ADEGBx.", max_size=24) | st.text(max_size=6)
    ).map(" ".join)
)
@settings(max_examples=500, deadline=None)
def test_the_outline_of_a_text_hides_no_number(text: str) -> None:
    assert personal_data_in(text) == _by_patterns_alone(text)


@pytest.mark.parametrize("number", NUMBERS[:5])
@pytest.mark.parametrize("around", ["Mine is {}.", "Überweise an {} bitte."])
def test_card_and_account_numbers_are_found(number: str, around: str) -> None:
    assert personal_data_in(around.format(number)) is not None
