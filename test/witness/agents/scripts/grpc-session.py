"""A client of gRPC: unary calls, a stream, and a call that fails."""

import os
from pathlib import Path

import grpc

roots = Path(os.environ["SSL_CERT_FILE"]).read_bytes()
with grpc.secure_channel("grpc.vendor.test:443", grpc.ssl_channel_credentials(roots)) as channel:
    for turn in range(6):
        assert channel.unary_unary("/t.T/Unary")(b"one", timeout=30) == b"one"
    parts = list(channel.unary_stream("/t.T/Stream")(b"one", timeout=30))
    assert parts == [b"one"] * 3, parts
    try:
        channel.unary_unary("/t.T/Missing")(b"one", timeout=30)
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.NOT_FOUND, error
        assert error.details() == "no such release", error
print("The session is complete.")
