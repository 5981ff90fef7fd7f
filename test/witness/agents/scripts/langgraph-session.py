from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from tools import INSTRUCTIONS, MODEL, PROMPT, TOOLS

agent = create_agent(ChatOpenAI(model=MODEL), TOOLS, system_prompt=INSTRUCTIONS)
result = agent.invoke(
    {"messages": [{"role": "user", "content": PROMPT}]}, {"recursion_limit": 1000}
)
print(result["messages"][-1].content)
