"""Follows redirects and references and keeps cookies with one client of Python; reads its order on standard input, prints versions."""

import asyncio
import json
import platform
import re
import sys
from urllib.parse import urljoin

order = json.load(sys.stdin)
headers = order["headers"]
client = sys.argv[1]
FOLLOWED = (
    "location content-location operation-location azure-asyncoperation x-goog-upload-url "
    "x-goog-upload-control-url refresh link www-authenticate x-storage-url odata-entityid"
).split()


def references(name, value):
    if name == "link":
        return [one["url"] for one in library.utils.parse_header_links(value)] + re.findall("<([^<>]*)>", value)
    if name == "refresh":
        return [value.split("=", 1)[-1].strip(" '\""), value.split(";", 1)[-1].strip()]
    if name == "www-authenticate":
        return re.findall('="([^"]*)"', value)
    return [value]


if client == "requests":
    import requests as library

    make = library.Session
    version = f"requests {library.__version__}"
    get = lambda session, url: session.get(url, headers=headers, timeout=10)
elif client == "httpx":
    import httpx as library

    make = lambda: library.Client(follow_redirects=True, timeout=10)
    version = f"httpx {library.__version__}"
    get = lambda session, url: session.get(url, headers=headers)
elif client == "aiohttp":
    import aiohttp as library

    # By default its jar takes no cookies of IP addresses.
    async def jar():
        return library.CookieJar(unsafe=True)

    make = lambda: loop.run_until_complete(jar())
    version = f"aiohttp {library.__version__}"

    async def fetch(jar, url):
        async with library.ClientSession(cookie_jar=jar) as session:
            async with session.get(url, headers=headers) as answer:
                await answer.read()

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    get = lambda jar, url: loop.run_until_complete(asyncio.wait_for(fetch(jar, url), 10))
elif client == "mechanize":
    import mechanize as library

    def make():
        browser = library.Browser()
        browser.set_handle_robots(False)
        browser.set_handle_refresh(True, honor_time=False)
        browser.addheaders = list(headers.items())
        return browser

    version = f"mechanize {'.'.join(map(str, library.__version__[:3]))}"
    get = lambda browser, url: browser.open(url, timeout=10)
else:
    import http.cookiejar
    import urllib.request as library

    def make():
        jar = http.cookiejar.CookieJar()
        return library.build_opener(library.HTTPCookieProcessor(jar))

    version = f"urllib of Python {platform.python_version()}"
    get = lambda session, url: session.open(library.Request(url, headers=headers), timeout=10)


def attempt(session, url):
    try:
        return get(session, url)
    except Exception as error:
        print(url, repr(error), file=sys.stderr)


for url in order["redirects"]:
    attempt(make(), url)
for urls in order["jars"]:
    session = make()
    for url in urls:
        attempt(session, url)
if client == "requests":
    for url in order["references"]:
        answer = attempt(make(), url)
        if answer is None:
            continue
        for name in FOLLOWED:
            for reference in references(name, answer.headers.get(name, "")) if name in answer.headers else []:
                attempt(make(), urljoin(answer.url, reference))
print(version)
