"""Numbers that belong to a person, told apart from others by their check digits."""

import re

_SHORTEST_CARD = 13  # digits
_OUTLINE = bytes(
    ord("0") if chr(code).isdecimal() else ord("A") if chr(code).isupper() else ord(".")
    for code in range(128)
).ljust(256, b".")
_FOUR_DIGITS = re.compile(r"\d{4}")
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){13,19}(?!\d)")
_ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")


def personal_data_in(text: str) -> str | None:
    """The kind of the first such number, or None."""
    may_be_card, may_be_account = _possible_kinds(text)
    if may_be_card and any(_is_card(found.group()) for found in _CARD.finditer(text)):
        return "a payment card number"
    if may_be_account and any(_is_account(found.group()) for found in _ACCOUNT.finditer(text)):
        return "a bank account number (IBAN)"
    return None


def _possible_kinds(text: str) -> tuple[bool, bool]:
    """Whether a text can hold a card, and an account: a look at its outline costs a tenth of a search."""
    if not text.isascii():
        some = _FOUR_DIGITS.search(text) is not None
        return some, some
    outline = text.encode().translate(_OUTLINE)
    if b"0000" not in outline:
        return False, False
    return outline.count(b"0") >= _SHORTEST_CARD, b"AA00" in outline


def _is_card(found: str) -> bool:
    digits = re.sub(r"\D", "", found)
    return _SHORTEST_CARD <= len(digits) <= 19 and digits[0] in "3456" and _passes_luhn(digits)


def _is_account(found: str) -> bool:
    return _passes_account_check(found.replace(" ", ""))


def _passes_luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B: every second digit doubled, the sum divides by ten."""
    if len(set(digits)) == 1:
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _passes_account_check(account: str) -> bool:
    """ISO 13616: country and check digits moved to the end, letters as numbers, rest 1 by 97."""
    moved = account[4:] + account[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1
