from agno.agent import Agent
from agno.models.openai import OpenAIChat

from tools import INSTRUCTIONS, MODEL, PROMPT, TOOLS

agent = Agent(
    model=OpenAIChat(id=MODEL), tools=TOOLS, instructions=INSTRUCTIONS, telemetry=False
)
print(agent.run(PROMPT).content)
