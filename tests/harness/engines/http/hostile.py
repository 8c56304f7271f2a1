"""A server of the standard library's that answers every request with what a test gives it."""

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def event(text: str, model: str = "m", **more: object) -> bytes:
    """An event of a stream of completions."""
    said = {"model": model, "choices": [{"index": 0, "text": text, "finish_reason": None} | more]}
    return b"data: " + json.dumps(said).encode() + b"\n\n"


@contextmanager
def answering(body: Iterable[bytes], status: int = 200, **headers: str) -> Iterator[str]:
    """The address of a server that sends `body`, piece by piece, until the client has gone."""
    chunks = body

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            try:
                for chunk in chunks:
                    self.wfile.write(chunk)
                    self.wfile.flush()
            except OSError:
                return  # the client has had enough

        def log_message(self, format: str, *args: object) -> None:
            """Nothing of it is shown."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.socket.close()
