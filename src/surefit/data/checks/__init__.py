"""The registry of data checks: one file a check, one line here, one fixture in tests/fixtures/data."""

from surefit.data.checks.check import Check
from surefit.data.checks.sd101_file_missing import FileMissing
from surefit.data.checks.sd102_file_empty import FileEmpty
from surefit.data.checks.sd103_utf16 import Utf16
from surefit.data.checks.sd104_file_cut import FileCut
from surefit.data.checks.sd105_folder_without_data import FolderWithoutData
from surefit.data.checks.sd106_only_test_split import OnlyTestSplit
from surefit.data.checks.sd107_link_outside import LinkOutside
from surefit.data.checks.sd108_file_damaged import FileDamaged
from surefit.data.checks.sd109_array_in_lines import ArrayInLines
from surefit.data.checks.sd110_json_broken import JsonBroken
from surefit.data.checks.sd111_row_not_object import RowNotObject
from surefit.data.checks.sd112_line_cut import LineCut
from surefit.data.checks.sd113_not_utf8 import NotUtf8
from surefit.data.checks.sd114_nul_byte import NulByte
from surefit.data.checks.sd115_nested_too_deep import NestedTooDeep
from surefit.data.checks.sd116_fields_count import FieldsCount
from surefit.data.checks.sd117_not_a_number import NotANumber
from surefit.data.checks.sd118_separator import Separator
from surefit.data.checks.sd201_columns_unknown import ColumnsUnknown
from surefit.data.checks.sd202_column_type import ColumnType
from surefit.data.checks.sd203_messages_empty import MessagesEmpty
from surefit.data.checks.sd204_mapped_column_missing import MappedColumnMissing
from surefit.data.checks.sd205_messages_as_json_text import MessagesAsJsonText
from surefit.data.checks.sd206_messages_as_python_text import MessagesAsPythonText
from surefit.data.checks.sd207_formats_mixed import FormatsMixed
from surefit.data.checks.sd208_columns_guessed import ColumnsGuessed
from surefit.data.checks.sd209_not_for_this_training import NotForThisTraining
from surefit.data.checks.sd301_role_unknown import RoleUnknown
from surefit.data.checks.sd302_content_type import ContentType
from surefit.data.checks.sd303_no_answer import NoAnswer
from surefit.data.checks.sd304_answer_blank import AnswerBlank
from surefit.data.checks.sd305_ends_with_question import EndsWithQuestion
from surefit.data.checks.sd306_picture_part import PicturePart
from surefit.data.checks.sd307_content_number import ContentNumber
from surefit.data.checks.sd308_null_arguments import NullArguments
from surefit.data.checks.sd309_chosen_equals_rejected import ChosenEqualsRejected
from surefit.data.checks.sd310_question_blank import QuestionBlank
from surefit.data.checks.sd311_labels_one_sided import LabelsOneSided
from surefit.data.checks.sd312_answer_in_question import AnswerInQuestion
from surefit.data.checks.sd313_tool_answer_alone import ToolAnswerAlone
from surefit.data.checks.sd314_tool_call_shape import ToolCallShape
from surefit.data.checks.sd315_weight_wrong import WeightWrong
from surefit.data.checks.sd401_template_refuses import TemplateRefuses
from surefit.data.checks.sd402_answer_beyond_cut import AnswerBeyondCut
from surefit.data.checks.sd403_answer_cut import AnswerCut
from surefit.data.checks.sd404_answer_lost import AnswerLost
from surefit.data.checks.sd405_tool_call_lost import ToolCallLost
from surefit.data.checks.sd406_reasoning_dropped import ReasoningDropped
from surefit.data.checks.sd407_templated_twice import TemplatedTwice
from surefit.data.checks.sd408_control_token import ControlToken
from surefit.data.checks.sd409_text_begins_twice import TextBeginsTwice
from surefit.data.checks.sd410_end_not_trained import EndNotTrained
from surefit.data.checks.sd411_text_without_end import TextWithoutEnd
from surefit.data.checks.sd412_tools_not_shown import ToolsNotShown
from surefit.data.checks.sd413_one_row_far_longer import OneRowFarLonger
from surefit.data.checks.sd414_all_rows_too_long import AllRowsTooLong
from surefit.data.checks.sd415_unknown_tokens import UnknownTokens
from surefit.data.checks.sd416_template_argument_unread import TemplateArgumentUnread
from surefit.data.checks.sd417_no_chat_template import NoChatTemplate
from surefit.data.checks.sd418_long_rows import LongRows
from surefit.data.checks.sd501_few_rows import FewRows
from surefit.data.checks.sd502_nothing_usable import NothingUsable
from surefit.data.checks.sd503_eval_empty import EvalEmpty
from surefit.data.checks.sd504_no_full_step import NoFullStep
from surefit.data.checks.sd505_eval_small import EvalSmall
from surefit.data.checks.sd506_one_answer import OneAnswer
from surefit.data.checks.sd507_too_many_unusable import TooManyUnusable
from surefit.data.checks.sd510_duplicates import Duplicates
from surefit.data.checks.sd511_eval_leak import EvalLeak
from surefit.data.checks.sd512_eval_near_copy import EvalNearCopy
from surefit.data.checks.sd601_secret import Secret
from surefit.data.checks.sd602_html import HtmlLeftIn
from surefit.data.checks.sd603_mojibake import Mojibake
from surefit.data.checks.sd604_zero_width import ZeroWidth
from surefit.data.checks.sd605_replacement_character import ReplacementCharacter
from surefit.data.checks.sd606_personal_data import PersonalData
from surefit.data.checks.sd607_placeholder_answer import PlaceholderAnswer
from surefit.data.checks.sd608_control_characters import ControlCharacters
from surefit.data.checks.sd609_repeats_itself import RepeatsItself
from surefit.data.checks.sd610_next_turn_in_answer import NextTurnInAnswer
from surefit.data.checks.sd611_assistant_boilerplate import AssistantBoilerplate

CHECKS: tuple[type[Check], ...] = (
    FileMissing,
    FileEmpty,
    Utf16,
    FileCut,
    FolderWithoutData,
    OnlyTestSplit,
    LinkOutside,
    FileDamaged,
    ArrayInLines,
    JsonBroken,
    RowNotObject,
    LineCut,
    NotUtf8,
    NulByte,
    NestedTooDeep,
    FieldsCount,
    NotANumber,
    Separator,
    ColumnsUnknown,
    ColumnType,
    MessagesEmpty,
    MappedColumnMissing,
    MessagesAsJsonText,
    MessagesAsPythonText,
    FormatsMixed,
    ColumnsGuessed,
    NotForThisTraining,
    RoleUnknown,
    ContentType,
    NoAnswer,
    AnswerBlank,
    EndsWithQuestion,
    PicturePart,
    ContentNumber,
    NullArguments,
    ChosenEqualsRejected,
    QuestionBlank,
    LabelsOneSided,
    AnswerInQuestion,
    ToolAnswerAlone,
    ToolCallShape,
    WeightWrong,
    TemplateRefuses,
    AnswerBeyondCut,
    AnswerCut,
    AnswerLost,
    ToolCallLost,
    ReasoningDropped,
    TemplatedTwice,
    ControlToken,
    TextBeginsTwice,
    EndNotTrained,
    TextWithoutEnd,
    ToolsNotShown,
    OneRowFarLonger,
    AllRowsTooLong,
    UnknownTokens,
    TemplateArgumentUnread,
    NoChatTemplate,
    LongRows,
    FewRows,
    NothingUsable,
    EvalEmpty,
    NoFullStep,
    EvalSmall,
    OneAnswer,
    TooManyUnusable,
    Duplicates,
    EvalLeak,
    EvalNearCopy,
    Secret,
    HtmlLeftIn,
    Mojibake,
    ZeroWidth,
    ReplacementCharacter,
    PersonalData,
    PlaceholderAnswer,
    ControlCharacters,
    RepeatsItself,
    NextTurnInAnswer,
    AssistantBoilerplate,
)
