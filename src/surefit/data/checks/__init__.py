"""The registry of data checks: one file a check, one line here, one fixture in tests/contract."""

from surefit.data.checks.check import Check
from surefit.data.checks.sd101_file_missing import FileMissing
from surefit.data.checks.sd102_file_empty import FileEmpty
from surefit.data.checks.sd110_json_broken import JsonBroken
from surefit.data.checks.sd111_row_not_object import RowNotObject
from surefit.data.checks.sd201_messages_missing import MessagesMissing
from surefit.data.checks.sd202_messages_not_list import MessagesNotList
from surefit.data.checks.sd203_messages_empty import MessagesEmpty
from surefit.data.checks.sd301_role_unknown import RoleUnknown
from surefit.data.checks.sd302_content_type import ContentType
from surefit.data.checks.sd303_no_answer import NoAnswer
from surefit.data.checks.sd304_answer_blank import AnswerBlank
from surefit.data.checks.sd305_ends_with_question import EndsWithQuestion
from surefit.data.checks.sd401_template_refuses import TemplateRefuses
from surefit.data.checks.sd402_answer_beyond_cut import AnswerBeyondCut
from surefit.data.checks.sd403_answer_cut import AnswerCut
from surefit.data.checks.sd501_few_rows import FewRows
from surefit.data.checks.sd502_nothing_usable import NothingUsable
from surefit.data.checks.sd503_eval_empty import EvalEmpty
from surefit.data.checks.sd510_duplicates import Duplicates
from surefit.data.checks.sd511_eval_leak import EvalLeak

CHECKS: tuple[type[Check], ...] = (
    FileMissing,
    FileEmpty,
    JsonBroken,
    RowNotObject,
    MessagesMissing,
    MessagesNotList,
    MessagesEmpty,
    RoleUnknown,
    ContentType,
    NoAnswer,
    AnswerBlank,
    EndsWithQuestion,
    TemplateRefuses,
    AnswerBeyondCut,
    AnswerCut,
    FewRows,
    NothingUsable,
    EvalEmpty,
    Duplicates,
    EvalLeak,
)
