import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient

from tools import INSTRUCTIONS, MODEL, PROMPT, TOOLS


async def main() -> None:
    info = ModelInfo(
        vision=False,
        function_calling=True,
        json_output=True,
        structured_output=True,
        family="unknown",
    )
    agent = AssistantAgent(
        "release",
        OpenAIChatCompletionClient(model=MODEL, model_info=info),
        tools=TOOLS,
        system_message=INSTRUCTIONS,
        max_tool_iterations=1000,
    )
    result = await agent.run(task=PROMPT)
    print(result.messages[-1].content)


asyncio.run(main())
