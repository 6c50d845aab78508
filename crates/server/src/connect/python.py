import asyncio
import os
import ssl

import httpx2
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

URL = "{url}"


class Memory:
    """Keeps the token while the script runs."""

    tokens = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return None

    async def set_client_info(self, client_info):
        pass


async def main():
    login = ClientCredentialsOAuthProvider(
        server_url=URL,
        storage=Memory(),
        client_id="{client_id}",
        client_secret=os.environ["FRONTDESK_CLIENT_SECRET"],
        issuer="{issuer}",
    )
    trust = ssl.create_default_context()
    trust.load_verify_locations({ca_json})
    async with (
        httpx2.AsyncClient(auth=login, verify=trust, timeout=60) as http,
        Client(streamable_http_client(URL, http_client=http)) as client,
    ):
        for tool in (await client.list_tools()).tools:
            print(tool.name)


asyncio.run(main())
