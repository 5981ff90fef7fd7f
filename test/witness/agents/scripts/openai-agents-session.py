import asyncio
import os

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

from tools import INSTRUCTIONS, MODEL, PROMPT, TOOLS


async def main() -> None:
    set_tracing_disabled(True)
    params = {
        "url": os.environ["MCP_URL"],
        "headers": {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    }
    async with MCPServerStreamableHttp(params=params, name="releases") as server:
        own = [function_tool(tool) for tool in TOOLS if tool.__name__ != "lookup_release"]
        agent = Agent(
            name="release",
            instructions=INSTRUCTIONS,
            model=MODEL,
            tools=own,
            mcp_servers=[server],
        )
        result = await Runner.run(agent, PROMPT, max_turns=1000)
        print(result.final_output)


asyncio.run(main())
