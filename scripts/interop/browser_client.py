#!/usr/bin/env python3
"""The official MCP client for Python, version 2, in the interactive flow; `node/browser.mjs` starts it and is its person.

Every line that it prints is JSON: where a browser must go, or what a call has answered. What it reads are the answers to
the first kind, and the signs to go on.

    python3 scripts/interop/browser_client.py ENDPOINT CA-FILE CALLBACK NAME
"""

import asyncio
import json
import ssl
import sys
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

ENDPOINT, CA_FILE, CALLBACK, NAME = sys.argv[1:]


def say(**words):
    print(json.dumps(words), flush=True)


async def hear():
    line = await asyncio.to_thread(sys.stdin.readline)
    if not line:
        raise EOFError("nobody answers")
    return line.strip()


class Memory:
    """Where the client keeps what it was given."""

    def __init__(self):
        self.tokens = None
        self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info

    def told(self):
        return {
            "scopes": sorted(self.tokens.scope.split()),
            "tokens": self.tokens.model_dump(exclude_none=True, mode="json"),
            "client": {"client_id": self.client.client_id},
        }


async def redirected(url):
    say(authorize=url)


async def called_back():
    params = {name: values[0] for name, values in parse_qs(await hear()).items()}
    return AuthorizationCodeResult(code=params["code"], state=params.get("state"), iss=params.get("iss"))


def login(memory):
    metadata = OAuthClientMetadata(
        client_name=NAME,
        redirect_uris=[CALLBACK],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(ENDPOINT, metadata, memory, redirected, called_back)


@asynccontextmanager
async def connect(provider):
    trust = ssl.create_default_context(cafile=CA_FILE)
    async with (
        httpx2.AsyncClient(auth=provider, verify=trust, timeout=60) as http,
        Client(streamable_http_client(ENDPOINT, http_client=http)) as client,
    ):
        yield client


async def main():
    memory = Memory()
    provider = login(memory)
    async with connect(provider) as client:
        found = await client.call_tool("inventory.search", {"limit": 1})
        say(dealership=found.structured_content["items"][0]["dealership_id"], **memory.told())
        await hear()
        leads = await client.call_tool("leads.list", {"limit": 1})
        say(leads=len(leads.structured_content["items"]), **memory.told())
    await hear()
    # The client refreshes when it believes that the token has expired, and not when it is refused.
    provider.context.token_expiry_time = 1.0
    async with connect(provider) as client:
        leads = await client.call_tool("leads.list", {"limit": 1})
        say(leads=len(leads.structured_content["items"]), **memory.told())


try:
    asyncio.run(main())
except BaseException as error:  # noqa: BLE001 - whatever stops it must be told
    say(error=repr(error))
    raise
