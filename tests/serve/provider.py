"""A small OpenID Connect provider in a separate process."""

from __future__ import annotations

import base64
import hashlib
import secrets
import sys
import time
from typing import Any
from urllib.parse import urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

ROLES = {"ada": ["staff"], "bob": ["staff"], "eve": []}


class Provider:
    def __init__(self, port: int, client: str, secret: str) -> None:
        self.issuer, self.client, self.secret = f"http://127.0.0.1:{port}", client, secret
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.codes: dict[str, dict[str, str]] = {}

    def routes(self) -> list[Route]:
        return [
            Route("/.well-known/openid-configuration", self.about),
            Route("/as/{name}", self.become),
            Route("/authorize", self.authorize),
            Route("/token", self.token, methods=["POST"]),
            Route("/jwks", self.keys),
            Route("/logout", self.logout),
        ]

    async def about(self, request: Request) -> Response:
        ends = {name: f"{self.issuer}/{name}" for name in ("authorize", "token", "jwks", "logout")}
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": ends["authorize"],
                "token_endpoint": ends["token"],
                "jwks_uri": ends["jwks"],
                "end_session_endpoint": ends["logout"],
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    async def become(self, request: Request) -> Response:
        answer = PlainTextResponse("ok")
        answer.set_cookie("as", request.path_params["name"])
        return answer

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        name = request.cookies.get("as")
        if name not in ROLES or asked["client_id"] != self.client:
            return PlainTextResponse("who are you?", 400)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked | {"name": name}
        back = urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}", 302)

    async def token(self, request: Request) -> Response:
        form: dict[str, Any] = dict(await request.form())
        given = request.headers.get("authorization", "").removeprefix("Basic ")
        client = base64.b64decode(given).decode() if given else ""
        asked = self.codes.pop(str(form.get("code")), None)
        digest = hashlib.sha256(str(form.get("code_verifier", "")).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or client != f"{self.client}:{self.secret}"
            or asked["redirect_uri"] != form.get("redirect_uri")
            or asked.get("code_challenge") != challenge
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": f"subject-{asked['name']}",
            "aud": self.client,
            "iat": now,
            "exp": now + 600,
            "nonce": asked.get("nonce"),
            "name": asked["name"].title(),
            "roles": ROLES[asked["name"]],
        }
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        return JSONResponse(
            {"access_token": "opaque", "token_type": "Bearer", "expires_in": 600, "id_token": token}
        )

    async def keys(self, request: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def logout(self, request: Request) -> Response:
        return RedirectResponse(request.query_params["post_logout_redirect_uri"], 302)


if __name__ == "__main__":
    port, client, secret = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    app = Starlette(routes=Provider(port, client, secret).routes())
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
