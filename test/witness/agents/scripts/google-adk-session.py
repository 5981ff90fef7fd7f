import asyncio

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.genai import types

from tools import INSTRUCTIONS, PROMPT, TOOLS


async def main() -> None:
    agent = LlmAgent(
        name="release", model="gemini-2.5-flash", instruction=INSTRUCTIONS, tools=TOOLS
    )
    runner = InMemoryRunner(agent=agent, app_name="release")
    session = await runner.session_service.create_session(app_name="release", user_id="user")
    message = types.Content(role="user", parts=[types.Part(text=PROMPT)])
    events = runner.run_async(user_id="user", session_id=session.id, new_message=message)
    async for event in events:
        if event.is_final_response():
            print(event.content.parts[0].text)


asyncio.run(main())
