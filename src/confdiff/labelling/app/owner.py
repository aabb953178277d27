"""The routes of the owner: the link, the page, the live report, invitations, quotas, the state and exports."""

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from confdiff.labelling.app.cookies import set_cookie
from confdiff.labelling.app.items_view import columns_of
from confdiff.labelling.app.scale import scale_of
from confdiff.labelling.app.site import Site, address_of
from confdiff.labelling.live_report import LiveReport, ReportProcess

_LARGEST_QUOTA = 1_000_000
_STRICT = ConfigDict(extra="forbid", strict=True)
_Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]
_Quota = Annotated[int, Field(ge=0, le=_LARGEST_QUOTA)]


class InviteBody(BaseModel):
    """An invitation: a name, and a quota unless it is that of the study."""

    model_config = _STRICT

    name: _Name
    quota: _Quota | None = None


class NameBody(BaseModel):
    """The name of an annotator."""

    model_config = _STRICT

    name: _Name


class QuotaBody(BaseModel):
    """A new quota of an annotator; null is that of the study."""

    model_config = _STRICT

    name: _Name
    quota: _Quota | None


class EmptyBody(BaseModel):
    """An empty object."""

    model_config = _STRICT


def owner_router(site: Site, live: LiveReport | None = None) -> APIRouter:
    """Return the routes of a study's owner.

    Parameters
    ----------
    site : Site
        The study on the server.
    live : LiveReport, optional
        The report; by default one that a process of its own computes.
    """
    router = APIRouter(prefix="/owner")
    _add_pages(router, site)
    _add_report(router, site, live or LiveReport(ReportProcess(site.study)))
    _add_annotators(router, site)
    _add_states(router, site)
    _add_exports(router, site)
    return router


def _add_pages(router: APIRouter, site: Site) -> None:
    @router.get("/join/{token}", response_class=Response)
    def join(token: str, request: Request) -> Response:
        site.limiter.check("join", address_of(request))
        if len(token) > 200 or not site.study.is_owner(token):
            return site.message("unknown_link", status=403, root="../../")
        response = RedirectResponse("../../owner", status_code=303)
        set_cookie(response, site.cookie_name("owner"), token, secure=site.secure)
        return response

    @router.get("", response_class=Response)
    def page(request: Request) -> Response:
        if not _is_owner(site, request):
            return site.message("no_link", status=403)
        settings = site.study.settings
        scale = scale_of(settings, site.texts)
        return site.page(
            "owner.html",
            own=site.texts["owner"],
            question=settings.question,
            words=[choice.word for choice in scale.differences or scale.ends],
            image_column=_image_column(site),
        )


def _image_column(site: Site) -> int | None:
    """Return the position of the first column of images among those that the study shows."""
    columns = enumerate(columns_of(site.study))
    return next((i for i, (_, kind) in columns if kind == "image"), None)


def _add_report(router: APIRouter, site: Site, live: LiveReport) -> None:
    @router.get("/api/report")
    def report(request: Request) -> JSONResponse:
        _check_owner(site, request)
        latest = live.latest()
        body = _standing(site) | {"report": latest.content, "current": latest.is_current, "problem": latest.problem}
        return JSONResponse(body)


def _add_annotators(router: APIRouter, site: Site) -> None:
    study = site.study

    @router.post("/api/invite")
    def invite(body: InviteBody, request: Request) -> JSONResponse:
        _check_owner(site, request)
        try:
            invitation = study.invite(body.name, quota=body.quota)
        except ValueError as error:
            raise HTTPException(422, str(error)) from error
        link = f"join/{invitation.token}"
        return JSONResponse(_standing(site) | {"name": invitation.name, "link": link})

    @router.post("/api/revoke")
    def revoke(body: NameBody, request: Request) -> JSONResponse:
        _check_annotator(site, request, body.name)
        study.revoke(body.name)
        return JSONResponse(_standing(site))

    @router.post("/api/quota")
    def set_quota(body: QuotaBody, request: Request) -> JSONResponse:
        _check_annotator(site, request, body.name)
        study.set_quota(body.name, body.quota)
        return JSONResponse(_standing(site))


def _add_states(router: APIRouter, site: Site) -> None:
    study = site.study
    for name, change in (("pause", study.pause), ("resume", study.resume), ("close", study.close)):
        router.add_api_route(f"/api/{name}", _state_route(site, change), methods=["POST"], name=f"{name}_study")


def _state_route(site: Site, change: Callable[[], None]) -> Callable[[EmptyBody, Request], JSONResponse]:
    def set_state(body: EmptyBody, request: Request) -> JSONResponse:
        _check_owner(site, request)
        change()
        return JSONResponse(_standing(site))

    return set_state


def _add_exports(router: APIRouter, site: Site) -> None:
    @router.get("/api/export/{table}.csv", response_class=Response)
    def export(table: Literal["pairs", "items"], request: Request) -> Response:
        _check_owner(site, request)
        with tempfile.TemporaryDirectory() as folder:
            paths = {path.name: path for path in site.study.export(Path(folder) / "tables")}
            content = paths[f"{table}.csv"].read_bytes()
        name = f"{site.study.name}-{table}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _is_owner(site: Site, request: Request) -> bool:
    token = site.session(request, "owner")
    if token is None:
        return False
    site.limiter.check("api", hashlib.sha256(token.encode()).hexdigest())
    if site.study.is_owner(token):
        return True
    site.limiter.check("stranger", address_of(request))
    return False


def _check_owner(site: Site, request: Request) -> None:
    """Raise the HTTP error 401 unless the owner sent the request."""
    if not _is_owner(site, request):
        raise HTTPException(401, site.texts["errors"]["no_link"])


def _check_annotator(site: Site, request: Request, name: str) -> None:
    """Raise the HTTP error 404 if the owner names an annotator who was not invited."""
    _check_owner(site, request)
    if all(annotator.name != name for annotator in site.study.annotators()):
        raise HTTPException(404, "No annotator has this name.")


def _standing(site: Site) -> dict[str, Any]:
    """Return what changes at once: the state, and the progress of annotators."""
    return {"state": site.study.state, "annotators": [asdict(annotator) for annotator in site.study.annotators()]}
