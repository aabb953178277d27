"""The JSON bodies that the page sends, with their limits, and one clear message where one is wrong."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST_ID = 2**31 - 1
_LONGEST_NOTE = 2000
_UUID = r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"
_NO_CONTROL = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f]*$"  # PostgreSQL stores no NUL, and nobody types the others
_STRICT = ConfigDict(extra="forbid", strict=True)

_Id = Annotated[int, Field(ge=0, le=_LARGEST_ID)]
_ClientId = Annotated[str, StringConstraints(pattern=_UUID)]
_Grade = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
_Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
_Note = Annotated[str, StringConstraints(max_length=_LONGEST_NOTE, pattern=_NO_CONTROL)]


class AnswerBody(BaseModel):
    """An answer: a grade from -1 (left) to +1 (right), or a same-class answer, or a reason for neither."""

    model_config = _STRICT

    assignment: _Id
    client_id: _ClientId
    grade: _Grade | None = None
    same: _Fraction | None = None
    reason: Literal["cannot say"] | None = None
    note: _Note | None = None
    seconds: _Seconds | None = None


class TrainingBody(BaseModel):
    """The message that the training round is over."""

    model_config = _STRICT

    done: Literal[True]


class UndoBody(BaseModel):
    """The wish to take the last answer back: an empty object."""

    model_config = _STRICT


def problem_of_body(errors: "Sequence[Any]") -> str:
    """Return one message about a body that does not have the expected form.

    The message names the field, but does not repeat its value, which may be long or not even valid text.

    Parameters
    ----------
    errors : sequence of dict
        The errors that pydantic found.

    Examples
    --------
    >>> problem_of_body([{"loc": ("body", "grade"), "msg": "Input should be less than or equal to 1"}])
    'The field grade is wrong: Input should be less than or equal to 1.'
    """
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"][1:] if not isinstance(part, int))[:100]
    message = str(first["msg"]).rstrip(".").encode("ascii", "replace").decode()
    if first.get("type") == "json_invalid":
        return "The body must be valid JSON."
    return f"The field {place} is wrong: {message}." if place else f"The body is wrong: {message}."
