import os

from strands import Agent, tool
from strands.models.openai import OpenAIModel

from tools import INSTRUCTIONS, MODEL, PROMPT, TOOLS

model = OpenAIModel(
    client_args={
        "base_url": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ["OPENAI_API_KEY"],
    },
    model_id=MODEL,
)
agent = Agent(model=model, tools=[tool(one) for one in TOOLS], system_prompt=INSTRUCTIONS)
print(agent(PROMPT))
