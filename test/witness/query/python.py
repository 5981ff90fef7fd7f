"""What readers of Python read as api_key in each query: one line of Base64 in, one line of JSON out. See ../query-readers.ts."""

import base64
import json
import sys
from urllib.parse import parse_qs

import bottle
import django.conf
import django.http
import falcon.uri
import starlette.datastructures
import tornado.httputil
import webob
import werkzeug.wrappers
import yarl

django.conf.settings.configure()


def with_werkzeug(text):
    return werkzeug.wrappers.Request({"QUERY_STRING": text, "REQUEST_METHOD": "GET"}).args.get("api_key")


def with_tornado(text):
    request = tornado.httputil.HTTPServerRequest("GET", "/?" + text)
    return [value.decode() for value in request.arguments.get("api_key", [])][-1:]


READERS = {
    "Python parse_qs": lambda text: parse_qs(text).get("api_key", [None])[0],
    "Python parse_qs, before 3.9.2": lambda text: parse_qs(text.replace(";", "&")).get("api_key", [None])[0],
    "Werkzeug": with_werkzeug,
    "Django": lambda text: django.http.QueryDict(text).get("api_key"),
    "Starlette": lambda text: starlette.datastructures.QueryParams(text).get("api_key"),
    "Tornado": with_tornado,
    "Bottle": lambda text: bottle.BaseRequest({"QUERY_STRING": text}).query.get("api_key"),
    "WebOb": lambda text: webob.Request({"QUERY_STRING": text, "REQUEST_METHOD": "GET"}).GET.get("api_key"),
    "Falcon": lambda text: falcon.uri.parse_query_string(text).get("api_key"),
    "yarl": lambda text: yarl.URL("http://x/?" + text, encoded=True).query.get("api_key"),
}

for line in sys.stdin:
    text = base64.b64decode(line).decode() + "&api_key=ours"
    out = {}
    for name, read in READERS.items():
        try:
            out[name] = read(text)
        except Exception:
            out[name] = None
    print(json.dumps(out), flush=True)
