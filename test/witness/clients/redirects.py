"""Follows redirects and keeps cookies with one client of Python; reads its order on standard input, prints versions."""

import json
import platform
import sys

order = json.load(sys.stdin)
headers = order["headers"]
client = sys.argv[1]

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
        get(session, url)
    except Exception as error:
        print(url, repr(error), file=sys.stderr)


for url in order["redirects"]:
    attempt(make(), url)
session = make()
for url in order["cookies"]:
    attempt(session, url)
print(version)
