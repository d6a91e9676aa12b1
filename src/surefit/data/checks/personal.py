"""Numbers that belong to a person, told apart from others by their check digits."""

import re

_FOUR_DIGITS = re.compile(r"\d{4}")
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){13,19}(?!\d)")
_ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")


def personal_data_in(text: str) -> str | None:
    """The kind of the first such number, or None."""
    if _FOUR_DIGITS.search(text) is None:
        return None
    for found in _CARD.finditer(text):
        digits = re.sub(r"\D", "", found.group())
        if 13 <= len(digits) <= 19 and digits[0] in "3456" and _passes_luhn(digits):
            return "a payment card number"
    for found in _ACCOUNT.finditer(text):
        if _passes_account_check(found.group().replace(" ", "")):
            return "a bank account number (IBAN)"
    return None


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
