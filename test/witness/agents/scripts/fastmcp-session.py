import asyncio
import os

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def main() -> None:
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    async with Client(StreamableHttpTransport(os.environ["MCP_URL"], headers=headers)) as client:
        await client.list_tools()
        for turn in range(8):
            await client.call_tool("lookup_release", {"version": f"1.{turn}"})
    print("The session is complete.")


asyncio.run(main())
