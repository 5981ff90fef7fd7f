"""Answers every request with the method and path that Flask sees. python3 flask_app.py PORT

Flask has no override of its own. This one reads what its recipes read: the header, a field of the query or the form, and a
member of JSON; and the path prefix of its recipe for a proxy.
"""
import logging
import sys

import flask
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request

FIELDS = ("_method", "__METHOD_OVERRIDE__")


class Overriding:
    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start_response):
        script_name = environ.get("HTTP_X_SCRIPT_NAME", "")
        if script_name:
            environ["SCRIPT_NAME"] = script_name
            if environ["PATH_INFO"].startswith(script_name):
                environ["PATH_INFO"] = environ["PATH_INFO"][len(script_name):]
        method = environ.get("HTTP_X_HTTP_METHOD_OVERRIDE", "") or self.named(environ)
        if isinstance(method, str) and method:
            environ["REQUEST_METHOD"] = method.upper()
        return self.app(environ, start_response)

    @staticmethod
    def named(environ):
        request = Request(environ)
        for field in FIELDS:
            value = request.args.get(field) or request.form.get(field)
            if value:
                return value
        if request.is_json:
            body = request.get_json(silent=True)
            return body.get("_method") if isinstance(body, dict) else None
        return None


app = flask.Flask(__name__)


@app.before_request
def echo():
    return flask.jsonify(method=flask.request.method, path=flask.request.path)


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.0"


logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
make_server("127.0.0.1", int(sys.argv[1]), Overriding(app), threaded=True, request_handler=Quiet).serve_forever()
