import asyncio
import os

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


async def main() -> None:
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    async with create_mcp_http_client(headers=headers) as client:
        async with streamable_http_client(os.environ["MCP_URL"], http_client=client) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                await session.list_tools()
                for turn in range(8):
                    result = await session.call_tool("lookup_release", {"version": f"1.{turn}"})
                    assert not result.is_error
    print("The session is complete.")


asyncio.run(main())
