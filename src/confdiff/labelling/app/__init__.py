"""The server of the labelling studio: pages and routes over :class:`~confdiff.labelling.study.Study`."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from confdiff.labelling.addresses import StudyUnavailable
from confdiff.labelling.annotators import UnknownAnnotator
from confdiff.labelling.app.annotator import annotator_router
from confdiff.labelling.app.bodies import problem_of_body
from confdiff.labelling.app.limits import RATES, Rate, RateLimiter
from confdiff.labelling.app.owner import owner_router
from confdiff.labelling.app.rendering import html_page, static_file
from confdiff.labelling.app.security import CheckedRequests, SecureResponses
from confdiff.labelling.app.site import Site
from confdiff.labelling.app.texts import page_texts

if TYPE_CHECKING:
    from starlette.requests import Request

    from confdiff.labelling.study import Study

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def create_app(
    studies: "Mapping[str, Study] | Study", *, secure: bool = False, rates: Mapping[str, Rate] = RATES
) -> FastAPI:
    """Return the server of one study at ``/``, or of several at ``/s/NAME/``.

    Parameters
    ----------
    studies : Study or mapping of str to Study
        One study, or studies by the names that their addresses have.
    secure : bool
        Whether browsers reach the server through TLS. Cookies are then sent through TLS only.
    rates : mapping of str to Rate
        How often one client may ask, see :data:`~confdiff.labelling.app.limits.RATES`. Kinds without a rate are
        unlimited.

    Returns
    -------
    fastapi.FastAPI
        An ASGI application.
    """
    app = FastAPI(
        title="confdiff labelling",
        docs_url=None,  # its pages load scripts of other servers
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # they would be absolute, and wrong behind a proxy
    )
    limiter = RateLimiter(rates)
    if isinstance(studies, Mapping):
        for name, study in studies.items():
            _check_study_name(name)
            app.include_router(_study_router(Site(study, limiter, secure)), prefix=f"/s/{name}")
            app.add_api_route(f"/s/{name}", _to_folder(name), include_in_schema=False, response_class=Response)
        app.include_router(_front_router())
    else:
        app.include_router(_study_router(Site(studies, limiter, secure)))
    app.add_api_route("/healthz", _report_health, response_class=JSONResponse)
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _body_problem)
    app.add_exception_handler(UnknownAnnotator, _deleted_annotator)
    app.add_exception_handler(StudyUnavailable, _unavailable_study)
    app.add_middleware(CheckedRequests, secure=secure)
    app.add_middleware(SecureResponses)
    return app


def _check_study_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"the name of a study in an address has letters, digits, _, . and -; got {name!r}.")


def _study_router(site: Site) -> APIRouter:
    router = APIRouter()
    router.include_router(annotator_router(site))
    router.include_router(owner_router(site))
    _add_static_files(router)
    return router


def _front_router() -> APIRouter:
    """Return the page at the root of a server of several studies, which does not name them."""
    router = APIRouter()

    @router.get("/", response_class=Response, include_in_schema=False)
    def front() -> Response:
        texts = page_texts("en")
        message = texts["messages"]["no_link"]
        return html_page("message.html", title="confdiff", language="en", message=message)

    _add_static_files(router)
    return router


def _add_static_files(router: APIRouter) -> None:
    @router.get("/static/{name}", response_class=Response, include_in_schema=False)
    def static(name: str) -> FileResponse:
        return static_file(name)


def _to_folder(name: str):  # type: ignore[no-untyped-def]
    def redirect() -> RedirectResponse:
        return RedirectResponse(f"{name}/", status_code=307)

    return redirect


def _report_health() -> JSONResponse:
    return JSONResponse({"status": "ok"})


async def _http_problem(request: "Request", error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"message": str(error.detail)}, status_code=error.status_code, headers=error.headers)


async def _deleted_annotator(request: "Request", error: Exception) -> Response:
    """Answer a request of an annotator whose data were deleted while it was handled."""
    return JSONResponse({"message": page_texts("en")["errors"]["no_link"]}, status_code=401)


async def _unavailable_study(request: "Request", error: Exception) -> Response:
    """Ask the page to send the request again later."""
    message = "The study cannot be reached at the moment."  # the error names a path, which is the owner's business
    return JSONResponse({"message": message}, status_code=503, headers={"Retry-After": "2"})


async def _body_problem(request: "Request", error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return JSONResponse({"message": problem_of_body(error.errors())}, status_code=422)
