"""The routes of annotators: the link, the page, the next question, answers, undo and media."""

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from confdiff.labelling.answering import Answer, AnswerRefused
from confdiff.labelling.app.bodies import AnswerBody, TrainingBody, UndoBody
from confdiff.labelling.app.cookies import set_cookie
from confdiff.labelling.app.items_view import assignment_view, training_views
from confdiff.labelling.app.markdown import markdown_html
from confdiff.labelling.app.media import LARGEST_NUMBER, NO_FILE, media_response
from confdiff.labelling.app.scale import scale_of
from confdiff.labelling.app.site import Site, address_of

if TYPE_CHECKING:
    from confdiff.labelling.annotators import Annotator
    from confdiff.labelling.turns import Turn


def annotator_router(site: Site) -> APIRouter:
    """Return the routes of a study's annotators."""
    router = APIRouter()
    _add_pages(router, site)
    _add_api(router, site)
    return router


def _add_pages(router: APIRouter, site: Site) -> None:
    @router.get("/join/{token}", response_class=Response)
    def join(token: str, request: Request) -> Response:
        site.limiter.check("join", address_of(request))
        session = site.study.exchange(token) if len(token) <= 200 else None
        if session is None:
            return site.message("unknown_link", status=403, root="../")
        response = RedirectResponse("../", status_code=303)
        set_cookie(response, site.cookie_name("annotator"), session, secure=site.secure)
        return response

    @router.get("/", response_class=Response)
    def page(request: Request) -> Response:
        annotator = site.visitor(request)
        if annotator is not None:
            return _judging_page(site, annotator)
        if site.session(request) is not None:
            return site.message("revoked", status=403)
        if request.headers.get("sec-fetch-site") == "cross-site":
            # A browser withholds the cookie where a link on another site, such as web mail, led here.
            return site.page("arrived.html")
        return site.message("no_link", status=403)

    @router.get("/media/{item}/{column}", response_class=Response)
    def media(item: int, column: int, request: Request) -> Response:
        session = site.session(request) or ""
        site.limiter.check("media", session or address_of(request))
        _check_media(site, request, item)
        return media_response(site.study, item, column, request)


def _check_media(site: Site, request: Request, item: int) -> None:
    """Raise an HTTP error unless the request is the owner's, or an annotator's who was asked about the item."""
    token = site.session(request, "owner")
    if token is not None and site.study.is_owner(token):
        return
    session = site.session(request)
    annotator = None if session is None else site.study.annotator_of(session)
    if annotator is None:
        site.limiter.check("stranger", address_of(request))
        raise HTTPException(401, site.texts["errors"]["no_link"])
    if not (0 <= item <= LARGEST_NUMBER and site.study.is_shown(annotator.name, item)):
        raise HTTPException(404, NO_FILE)


def _add_api(router: APIRouter, site: Site) -> None:
    study = site.study

    @router.get("/api/state")
    def state(request: Request) -> JSONResponse:
        annotator = site.annotator(request)
        return JSONResponse(_standing(site, annotator) | {"training": _training(site, annotator)})

    @router.post("/api/answers")
    def answer(body: AnswerBody, request: Request) -> JSONResponse:
        turn = _stored_turn(site, site.annotator(request), body)
        view = None if turn.next is None else assignment_view(study, turn.next)
        return JSONResponse({"stored": True, "state": turn.state, "progress": asdict(turn.progress), "next": view})

    @router.post("/api/undo")
    def undo(body: UndoBody, request: Request) -> JSONResponse:
        annotator = site.annotator(request)
        assignment = study.undo(annotator.name)
        view = None if assignment is None else assignment_view(study, assignment)
        return JSONResponse({"state": study.state, "progress": asdict(study.progress(annotator.name)), "next": view})

    @router.post("/api/training")
    def finish_training(body: TrainingBody, request: Request) -> JSONResponse:
        annotator = site.annotator(request)
        study.finish_training(annotator.name)
        return JSONResponse(_standing(site, annotator, is_trained=True))


def _judging_page(site: Site, annotator: "Annotator") -> Response:
    settings = site.study.settings
    return site.page(
        "judge.html",
        settings=settings,
        scale=scale_of(settings, site.texts),
        instructions=markdown_html(settings.instructions),
        annotator=annotator.name,
        queue=_queue_name(site, annotator),
    )


def _queue_name(site: Site, annotator: "Annotator") -> str:
    """Return the name under which a browser keeps unsent answers, so that two annotators never share them."""
    person = hashlib.sha256(annotator.name.encode()).hexdigest()[:12]
    return f"{site.cookie_name('annotator')}-{person}"


def _stored_turn(site: Site, annotator: "Annotator", body: AnswerBody) -> "Turn":
    """Store an answer, and return what follows; a refused one is a conflict with what the study expects."""
    try:
        return site.study.answer_and_next(annotator.name, Answer(**body.model_dump()))
    except AnswerRefused as error:
        raise HTTPException(409, str(error)) from error


def _standing(site: Site, annotator: "Annotator", *, is_trained: bool = False) -> dict[str, Any]:
    """Return what the page shows next, and how far the annotator is. Questions come after the training."""
    assignment = None
    if is_trained or annotator.training_done:
        assignment = site.study.next_assignment(annotator.name)
    return {
        "state": site.study.state,
        "progress": asdict(site.study.progress(annotator.name)),
        "next": None if assignment is None else assignment_view(site.study, assignment),
    }


def _training(site: Site, annotator: "Annotator") -> dict[str, Any]:
    if annotator.training_done:
        return {"done": True, "examples": []}
    return {"done": False, "examples": training_views(site.study)}
