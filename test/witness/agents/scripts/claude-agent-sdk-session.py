import asyncio
import os

from claude_agent_sdk import ClaudeAgentOptions, query

from tools import INSTRUCTIONS, PROMPT


async def main() -> None:
    server = {
        "type": "http",
        "url": os.environ["MCP_URL"],
        "headers": {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    }
    options = ClaudeAgentOptions(
        system_prompt=INSTRUCTIONS,
        allowed_tools=["Bash", "Read", "Write", "Edit", "Grep", "mcp__releases"],
        mcp_servers={"releases": server},
        env={"ENABLE_TOOL_SEARCH": "false", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    )
    async for message in query(prompt=PROMPT, options=options):
        result = getattr(message, "result", None)
        if result is not None:
            print(result)


asyncio.run(main())
