from pydantic_ai import Agent
from pydantic_ai.usage import UsageLimits

from tools import INSTRUCTIONS, MODEL, PROMPT, TOOLS

agent = Agent(f"openai:{MODEL}", tools=TOOLS, instructions=INSTRUCTIONS)
print(agent.run_sync(PROMPT, usage_limits=UsageLimits(request_limit=None)).output)
