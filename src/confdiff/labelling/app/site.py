"""What the routes of one study share: the study, its texts, its cookies and its rate limits."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from confdiff.labelling.app.cookies import Role, cookie_name, cookie_of
from confdiff.labelling.app.limits import RateLimiter
from confdiff.labelling.app.rendering import html_page
from confdiff.labelling.app.texts import page_texts

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from confdiff.labelling.annotators import Annotator
    from confdiff.labelling.study import Study


@dataclass(frozen=True)
class Site:
    """One study on the server.

    Attributes
    ----------
    study : Study
        The study.
    limiter : RateLimiter
        Limits of all studies on the server.
    secure : bool
        Whether browsers reach the server through TLS.
    """

    study: "Study"
    limiter: RateLimiter
    secure: bool

    @cached_property
    def texts(self) -> Mapping[str, Any]:
        """The texts of the study's language."""
        return page_texts(self.study.settings.language)

    @cached_property
    def title(self) -> str:
        """The name of the study on pages."""
        return self.study.settings.title or self.study.name

    def page(self, template: str, *, status: int = 200, **values: Any) -> "Response":
        """Return a template with the title, the language and the texts of the study."""
        language = self.study.settings.language
        return html_page(template, status=status, title=self.title, language=language, texts=self.texts, **values)

    def message(self, name: str, *, status: int, root: str = "") -> "Response":
        """Return a page with one message, for a person without a valid cookie."""
        return self.page("message.html", status=status, message=self.texts["messages"][name], root=root)

    def cookie_name(self, role: Role) -> str:
        """Return the name of the cookie of a role."""
        return cookie_name(role, self.study.name, secure=self.secure)

    def session(self, request: "Request", role: Role = "annotator") -> str | None:
        """Return the cookie of a role, None without one."""
        return cookie_of(request, self.cookie_name(role))

    def visitor(self, request: "Request") -> "Annotator | None":
        """Return the annotator who sent a request; None without a cookie that is valid now."""
        session = self.session(request)
        if session is None:
            return None
        self.limiter.check("api", hashlib.sha256(session.encode()).hexdigest())
        annotator = self.study.annotator_of(session)
        if annotator is None:
            self.limiter.check("stranger", address_of(request))
        return annotator

    def annotator(self, request: "Request") -> "Annotator":
        """Return the annotator who sent a request; without one, raise the HTTP error 401."""
        annotator = self.visitor(request)
        if annotator is None:
            raise HTTPException(401, self.texts["errors"]["no_link"])
        return annotator


def address_of(request: "Request") -> str:
    """Return the network address of the client."""
    return request.client.host if request.client else "unknown"
