"""A server on loopback that speaks the protocol of chat completions, with a simulated judge and with faults.

Items are texts such as "value 0.25". Every request that was received completely is counted per pair and order, and so
is every correct reply that was sent completely.
"""

import json
import random
import re
import select
import threading
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

ITEM = re.compile(r"<(?:first|second) \w+>\n(.*?)\n</", re.DOTALL)
VALUE = re.compile(r"value ([\d.]+)")
KEY = "sk-test-5eCrEt-of-the-endpoint"
LONGEST_WAIT = 60  # seconds
KINDS = ("429", "500", "time-out", "malformed", "truncated", "cut", "refusal", "wrong-grade", "slow")


class JudgeServer:
    """A judge behind HTTP.

    Parameters
    ----------
    faults : mapping
        One of KINDS -> its probability at each request.
    side_bias, noise, scale : float
        Of the simulated judge, in units of the difference of two values.
    points : int
        Points of the scale; 0 is a fine scale.
    """

    def __init__(self, faults=(), *, side_bias=0.0, noise=0.0, scale=1.0, points=7, seed=0):
        self.faults = dict(faults)
        self.side_bias = side_bias
        self.noise = noise
        self.scale = scale
        self.points = points
        self.seed = seed
        self.received = Counter()
        self.sent = Counter()
        self.faults_of = defaultdict(list)  # (first, second) -> the fault of each request in turn, or None
        self.bodies = []
        self.headers = []
        self.tokens = 0
        self.refuses = lambda body: None  # body -> an error message with status 400
        self.replies = []  # (status, body, headers) to send before all others
        self._rng = random.Random(seed)
        self._changed = threading.Condition()

    def wait_for(self, count, seconds=300):
        """Wait until a number of correct replies was sent."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.sent.total() >= count, seconds), f"{self.sent.total()} replies"

    def grade(self, first, second):
        """Return the judge's grade: noise depends on the pair and the order only."""
        values = [float(VALUE.search(text)[1]) for text in (first, second)]
        rng = np.random.default_rng([self.seed, *(int(value * 1e6) for value in values)])
        noise = self.noise * rng.standard_normal()
        return float(np.clip(self.scale * (values[1] - values[0]) + self.side_bias + noise, -1, 1))

    def number(self, first, second):
        """Return the number of the scale for a grade."""
        grade = self.grade(first, second)
        if not self.points:
            return round(100 * grade)
        half = (self.points - 1) / 2
        return round(grade * half + half) + 1

    def take(self, body, headers):
        """Count a request, and return its key and the fault to commit."""
        with self._changed:
            prompt = "\n".join(message["content"] for message in body["messages"])
            first, second = ITEM.findall(prompt)
            self.received[first, second] += 1
            self.bodies.append(body)
            self.headers.append(headers)
            kind = self._drawn_fault()
            self.faults_of[first, second].append(kind)
            return (first, second), kind

    def _drawn_fault(self):
        drawn = self._rng.random()
        for kind, probability in self.faults.items():
            drawn -= probability
            if drawn < 0:
                return kind
        return None

    def has_sent(self, key):
        with self._changed:
            self.sent[key] += 1
            self._changed.notify_all()

    def has_ended(self, tokens):
        with self._changed:
            self.tokens += tokens


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    judge: JudgeServer

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self.reply(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        if self.judge.replies:
            self.judge.headers.append(dict(self.headers))
            self.reply(*self.judge.replies.pop(0))
            return
        refusal = self.judge.refuses(body)
        if refusal:
            self.reply(400, {"error": {"message": refusal}})
            return
        key, fault = self.judge.take(body, dict(self.headers))
        tokens = len(json.dumps(body["messages"])) // 4 + 10
        used = 0
        try:
            used = tokens if self.answer(key, fault, tokens) else 0
        except OSError:
            self.close_connection = True
        finally:
            self.judge.has_ended(used)

    def answer(self, key, fault, tokens):
        """Send a reply; return whether tokens were used."""
        number = self.judge.number(*key)
        content = json.dumps({"answer": number})
        if fault == "429":
            self.reply(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.05"})
            return False
        if fault == "500":
            self.reply(500, "internal error")
            return False
        if fault == "time-out":
            select.select([self.connection], [], [], LONGEST_WAIT)  # until the client gives up
            self.close_connection = True
            return False
        if fault == "slow":
            time.sleep(0.2)
        if fault == "malformed":
            self.reply(200, '{"choices": [{"message"')
            return False
        if fault == "cut":
            whole = json.dumps(completion(content, tokens)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[: len(whole) // 2])
            self.close_connection = True
            return False
        if fault == "truncated":
            self.reply(200, completion(content[:6], tokens, finish_reason="length"))
        elif fault == "refusal":
            self.reply(200, completion(None, tokens, refusal="I cannot compare these."))
            self.judge.has_sent(key)
        elif fault == "wrong-grade":
            self.reply(200, completion(json.dumps({"answer": 4711}), tokens))
        else:
            self.reply(200, completion(content, tokens))
            self.judge.has_sent(key)
        return True

    def reply(self, status, body, headers=()):
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        """Log nothing."""


def completion(content, tokens=50, *, finish_reason="stop", refusal=None):
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": tokens - 5, "completion_tokens": 5, "total_tokens": tokens},
    }


@contextmanager
def serving(judge):
    """Serve a judge, and yield the address of the endpoint."""
    handler = type("Handler", (_Handler,), {"judge": judge})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # of clients that were killed
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def texts_of(values):
    """Return items whose texts hold values."""
    return {"id": [f"item-{k:04d}" for k in range(len(values))], "text": [f"value {value:.6f}" for value in values]}
