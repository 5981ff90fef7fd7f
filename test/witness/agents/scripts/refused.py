"""Makes one call for each case with a client of an API, and prints what its user sees: `refused.py CLIENT < cases`."""

import asyncio
import json
import sys
import warnings

warnings.filterwarnings("ignore")


def httpx(base: str, key: str, text: str) -> str:
    import httpx

    headers = {"Authorization": f"Bearer {key}"}
    return httpx.post(f"{base}/things", headers=headers, json={"text": text}).text


def requests(base: str, key: str, text: str) -> str:
    import requests

    headers = {"Authorization": f"Bearer {key}"}
    return requests.post(f"{base}/things", headers=headers, json={"text": text}).text


def openai(base: str, key: str, text: str) -> None:
    from openai import OpenAI

    messages = [{"role": "user", "content": text}]
    client = OpenAI(base_url=f"{base}/v1", api_key=key)
    client.chat.completions.create(model="gpt-5", messages=messages)


def anthropic(base: str, key: str, text: str) -> None:
    from anthropic import Anthropic

    messages = [{"role": "user", "content": text}]
    client = Anthropic(base_url=base, api_key=key)
    client.messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=messages)


def google_genai(base: str, key: str, text: str) -> None:
    from google import genai

    client = genai.Client(api_key=key, http_options={"base_url": base})
    client.models.generate_content(model="gemini-2.5-flash", contents=text)


def stripe(base: str, key: str, text: str) -> None:
    from stripe import StripeClient

    StripeClient(key, base_addresses={"api": base}).v1.customers.create({"description": text})


def slack_sdk(base: str, key: str, text: str) -> None:
    from slack_sdk import WebClient

    WebClient(token=key, base_url=f"{base}/api/").chat_postMessage(channel="C1", text=text)


def notion_client(base: str, key: str, text: str) -> None:
    from notion_client import Client

    client = Client(auth=key, base_url=base)
    client.search(query=text)


def _boto3(service: str, base: str, key: str) -> object:
    import boto3

    return boto3.client(
        service,
        endpoint_url=base,
        region_name="eu-central-1",
        aws_access_key_id=key,
        aws_secret_access_key="any",
    )


def s3(base: str, key: str, text: str) -> None:
    _boto3("s3", base, key).put_object(Bucket="bucket", Key="note.txt", Body=text.encode())


def bedrock(base: str, key: str, text: str) -> None:
    messages = [{"role": "user", "content": [{"text": text}]}]
    _boto3("bedrock-runtime", base, key).converse(modelId="model", messages=messages)


def litellm(base: str, key: str, text: str) -> None:
    from litellm import completion

    messages = [{"role": "user", "content": text}]
    completion(model="openai/gpt-5", api_base=f"{base}/v1", api_key=key, messages=messages)


def mcp(base: str, key: str, text: str) -> str:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    async def run() -> str:
        headers = {"Authorization": f"Bearer {key}"}
        async with create_mcp_http_client(headers=headers) as client:
            async with streamable_http_client(f"{base}/mcp", http_client=client) as streams:
                async with ClientSession(streams[0], streams[1]) as session:
                    await session.initialize()
                    result = await session.call_tool(*_tool(base, text))
                    return result.content[0].text

    return asyncio.run(run())


def fastmcp(base: str, key: str, text: str) -> str:
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    async def run() -> str:
        headers = {"Authorization": f"Bearer {key}"}
        async with Client(StreamableHttpTransport(f"{base}/mcp", headers=headers)) as client:
            result = await client.call_tool(*_tool(base, text))
            return result.content[0].text

    return asyncio.run(run())


def _tool(base: str, text: str) -> tuple[str, dict]:
    name = "delete_release" if "mcp_tool_blocked" in base else "lookup_release"
    return name, {"version": text}


def _shown(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


client = globals()[sys.argv[1]]
for line in sys.stdin.read().splitlines():
    case = json.loads(line)
    try:
        shown = f"no error: {client(case['base'], case['key'], case['text'])}"
    except BaseException as error:
        shown = _shown(error)
    print("\n" + json.dumps({"case": case["name"], "shown": shown}), flush=True)
