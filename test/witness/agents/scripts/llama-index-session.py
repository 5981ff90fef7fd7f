import asyncio
import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI

from tools import INSTRUCTIONS, MODEL, PROMPT, TOOLS


async def main() -> None:
    agent = FunctionAgent(tools=TOOLS, llm=OpenAI(model=MODEL, api_base=os.environ["OPENAI_BASE_URL"]), system_prompt=INSTRUCTIONS)
    print(await agent.run(PROMPT, max_iterations=1000))


asyncio.run(main())
