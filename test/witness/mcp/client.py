import asyncio
import json
import sys

import httpx2
import mcp.client.session
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, authorization: str, revision: str) -> None:
    # The client itself offers the newest of those with a handshake.
    mcp.client.session.LATEST_HANDSHAKE_VERSION = revision
    mode = revision if revision > "2026" else "legacy"
    http = httpx2.AsyncClient(headers={"authorization": authorization})
    calls = json.loads(sys.stdin.read())
    async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        for name, arguments in calls.items():
            answer = await client.call_tool(name, arguments)
            text = answer.content[0].text
            print(json.dumps({"revision": client.protocol_version, "tool": name, "is_listed": name in listed, "text": text}))


asyncio.run(main(*sys.argv[1:4]))
