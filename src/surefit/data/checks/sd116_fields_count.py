"""SD116: a row of a table has too many or too few fields."""

from surefit.data.checks.file_problem import BrokenCheck


class FieldsCount(BrokenCheck):
    """A row of a table has too many or too few fields.

    ## What it does
    Compares the fields of every record with the columns of the header.

    ## Why it is bad
    A separator inside an answer that is not quoted cuts the answer in two.

    ## Example
    Header `prompt,completion`, row `Name two,Lima, Quito`.

    ## What to do
    Put the text into double quotes.
    """

    code = "SD116"
    title = "wrong number of fields"
    kind = "fields"
    message = "{rows} whose fields do not match the columns ({where}); in the first, {value}"
    why = "a separator inside a text that is not quoted cuts the text in two"
    next_step = "put the texts of {where} into double quotes"
