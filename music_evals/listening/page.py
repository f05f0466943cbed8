"""The page of a session: one question at a time, from this machine for this machine.

Only requests to 127.0.0.1 or localhost are answered, and only with a cookie. A browser gets the
cookie for a token that other users of the machine do not know, and a token is taken once. Only
answers that the page itself sends are taken. The page loads nothing and runs no script but its own,
and all text is escaped.
"""

from importlib.resources import files
from secrets import compare_digest, token_urlsafe
from socket import socket
from urllib.parse import parse_qsl

import uvicorn
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from music_evals.listening.session import LONGEST, Session

HOST = "127.0.0.1"
_MOST_BYTES = 20 * LONGEST  # of an answer with its id; a character has up to 12 in a form
_USED = "Open the address that `music-evals listen` shows. It opens one browser, once."
_POLICY = (
    "default-src 'none'; img-src data:; media-src data:; script-src 'nonce-{0}'; style-src "
    "'nonce-{0}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def serve(session: Session, listener: socket, tokens: set[str]) -> None:
    """Serve the page on a socket until all questions are answered, or until Ctrl-C; ``/TOKEN`` lets
    a browser in, once for each of the tokens.
    """
    text = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(text)
    first = session.unanswered[0]
    # A browser sends a cookie to all ports of a host.
    cookie_name, cookie = f"listen-{listener.getsockname()[1]}", token_urlsafe()

    async def enter(request: Request) -> Response:
        token = request.path_params["token"]
        if token not in tokens:
            return PlainTextResponse(_USED, 403)
        tokens.remove(token)
        # A browser that comes from elsewhere would not send a strict cookie with a redirection.
        response = HTMLResponse('<meta http-equiv="refresh" content="0; url=/">')
        response.set_cookie(cookie_name, cookie, httponly=True, samesite="strict")
        return response

    async def page(request: Request) -> Response:
        if not compare_digest(request.cookies.get(cookie_name, "").encode(), cookie.encode()):
            return PlainTextResponse(_USED, 403)
        if request.method == "POST":
            if request.headers.get("origin") != f"http://{request.headers['host']}":
                return PlainTextResponse("Only this page can send answers.", 403)
            body = await _body(request)
            if body is None:
                return PlainTextResponse(f"An answer has at most {LONGEST} characters.", 413)
            fields = dict(parse_qsl(body.decode(errors="replace")))
            try:
                session.keep(fields.get("id", ""), fields.get("answer", ""))
            except ValueError as error:
                return PlainTextResponse(f"Error: {error}", 422)
            if session.unanswered:
                return RedirectResponse("/", 303)
        nonce, sample = token_urlsafe(), next(iter(session.unanswered), None)
        html = template.render(
            {
                "nonce": nonce,
                "name": session.model.name,
                "longest": LONGEST,
                "is_first": sample is first,
            },
            item=await session.shown(sample) if sample else None,
            done=len(session.samples) - len(session.unanswered),
            total=len(session.samples),
        )
        headers = {"Content-Security-Policy": _POLICY.format(nonce), "Cache-Control": "no-store"}
        return HTMLResponse(
            html,
            200,
            headers,
            background=None if sample else BackgroundTask(setattr, server, "should_exit", True),
        )

    only_here = Middleware(
        TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"], www_redirect=False
    )
    routes = [Route("/", page, methods=["GET", "POST"]), Route("/{token}", enter)]
    app = Starlette(routes=routes, middleware=[only_here])
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=2)
    )
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        return


async def _body(request: Request) -> bytes | None:
    """The body of a request; None if it is longer than any answer."""
    body = b""
    async for chunk in request.stream():
        # What is too much is read and dropped: a client that still sends would not see the reply.
        if len(body) <= _MOST_BYTES:
            body += chunk
    return body if len(body) <= _MOST_BYTES else None
