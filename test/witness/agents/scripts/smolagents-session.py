import os

from smolagents import OpenAIModel, ToolCallingAgent, tool

from tools import INSTRUCTIONS, MODEL, PROMPT, TOOLS

model = OpenAIModel(
    MODEL, api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"]
)
agent = ToolCallingAgent([tool(one) for one in TOOLS], model, instructions=INSTRUCTIONS)
print(agent.run(PROMPT, max_steps=1000))
