#!/usr/bin/env python3
"""An example worker for training jobs, for Python 3.9 or newer with its standard library alone.

    WEFT_WORKER_KEY=wk_... python3 examples/worker.py --server http://127.0.0.1:8080 --base-model example

docs/training.md describes the protocol that it speaks. What trains is one function in another file, token_table.py.
To train on a GPU, write such a function in a module of your own, with torch or any other library, and name it:
`--train my_trainer:train`. This file may stay as it is.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import http.client
import importlib
import json
import math
import os
import random
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
import zlib
from typing import Any, Callable, NoReturn

VERSION = "example-1"
CLAIM_WAIT_S = 30
# Longer than a claim waits.
REQUEST_S_MAX = 60
RELEASE_S_MAX = 10
TRIES_MAX = 6
PAUSE_S_MIN, PAUSE_S_MAX = 0.2, 30.0
ANSWER_BYTES_MAX = 1 << 20
MESSAGE_CHARS_MAX = 500
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Refused(Exception):
    """An answer that the same request would get again."""

    retryable = False

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code = status, code


class LeaseLost(Exception):
    """The job is another worker's by now, or has ended: there is nobody to report to."""


class Cancelled(Exception):
    """A client has cancelled the job."""


class Unreachable(Exception):
    """The server could not be asked, however often it was tried."""


class Stopped(BaseException):
    """SIGTERM or SIGINT came. No Exception, so that a broad `except` of a trainer lets it pass."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Why: the key goes with each request, and must not follow one to another host."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Server:
    """Sends requests, and sends them again where that may help. Every report may come twice: the server knows it
    by its lease, its number or its hash."""

    def __init__(self, base: str, key: str) -> None:
        self.base, self.key = base.rstrip("/"), key
        self.opener = urllib.request.build_opener(NoRedirect)

    def send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], *,
        tries: float = TRIES_MAX, timeout: float = REQUEST_S_MAX, bytes_max: int = ANSWER_BYTES_MAX,
    ) -> bytes:
        """The body of a good answer. Raises LeaseLost, Refused, Unreachable."""
        if not path.startswith("/"):
            raise Refused(0, "foreign_url", "the server named a file outside of itself")
        headers = {"authorization": f"Bearer {self.key}", **headers}
        request = urllib.request.Request(self.base + path, data=body, headers=headers, method=method)
        pause = PAUSE_S_MIN
        while True:
            tries -= 1
            try:
                with self.opener.open(request, timeout=timeout) as answer:
                    zipped = answer.headers.get("content-encoding") == "gzip"
                    content = gzip.GzipFile(fileobj=answer) if zipped else answer
                    return content.read(bytes_max + 1)
            except urllib.error.HTTPError as error:
                failure, wait = read_failure(error)
            except (OSError, EOFError, http.client.HTTPException, zlib.error) as error:
                failure, wait = f"{type(error).__name__}: {error}", 0.0
            if tries <= 0:
                raise Unreachable(f"{method} {path} failed: {failure}")
            if tries == math.inf and pause == PAUSE_S_MIN:
                log(f"{self.base} cannot be asked, is tried until it can: {failure}")
            # By chance up to twice as long: workers that failed together must not come back together.
            time.sleep(min(PAUSE_S_MAX, max(wait, pause) * (1 + random.random())))
            pause = min(PAUSE_S_MAX, 2 * pause)

    def post(self, path: str, body: dict[str, Any], **options: Any) -> Any:
        headers = {"content-type": "application/json"}
        text = self.send("POST", path, json.dumps(body).encode(), headers, **options)
        return json.loads(text) if text else None


def read_failure(error: urllib.error.HTTPError) -> tuple[str, float]:
    """What an overloaded or failing server answered, and in how many seconds it wants to be asked again.
    Raises LeaseLost and Refused for all other errors."""
    try:
        told = json.loads(error.read(ANSWER_BYTES_MAX))["error"]
        code, message = str(told["code"]), str(told["message"])
    except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
        code, message = "no_weft_error", error.reason
    if code == "lease_lost":
        raise LeaseLost("the lease is lost")
    if error.code < 500 and error.code != 429:
        raise Refused(error.code, code, message)
    seconds = error.headers.get("retry-after") or ""
    return f"{error.code} {code}", float(seconds) if seconds.isdigit() else 0.0


class JobReport:
    """The reports on one claimed job, and its lease."""

    def __init__(self, server: Server, job: dict[str, Any]) -> None:
        self.server, self.job = server, job
        self.name = f"job {job['id']}, attempt {job['attempt']}"
        self.path = f"/v1/preview/worker/jobs/{job['id']}"
        self.seq, self.steps, self.steps_planned = 0, 0, 1
        self.halt: Exception | None = None
        self.ended = threading.Event()

    def started(self, num_sequences: int) -> None:
        """Tells how many gradient steps will come."""
        self.steps_planned = max(1, num_sequences)
        self.send_event("training_started", {"num_sequences": num_sequences})

    def step(self, **metrics: float) -> None:
        """Tells the numbers of one gradient step."""
        self.steps += 1
        self.send_event("gradient_step", metrics)

    def check(self) -> None:
        """Raises LeaseLost or Cancelled when the work is to be dropped."""
        if self.halt is not None:
            raise self.halt

    def send_event(self, kind: str, data: dict[str, float]) -> None:
        self.check()
        event = {"seq": self.seq, "type": kind, "data": data}
        self.seq += 1
        self.post("events", {"events": [event]})

    def post(self, name: str, body: dict[str, Any], **options: Any) -> Any:
        body = {"lease_token": self.job["lease_token"], **body}
        return self.server.post(f"{self.path}/{name}", body, **options)

    def beat(self) -> None:
        """Keeps the lease until the job has ended; runs in a thread of its own."""
        seconds = self.job["heartbeat_seconds"]
        while not self.ended.wait(seconds):
            progress = min(1.0, self.steps / self.steps_planned)
            try:
                # A beat that does not come through is not worth a second try: the next one is as good.
                answer = self.post("heartbeat", {"progress": progress}, tries=1, timeout=seconds)
                if answer["cancel_requested"]:
                    self.halt = Cancelled("a client has cancelled the job")
            except LeaseLost as error:
                self.halt = error
                return
            except (Refused, Unreachable) as error:
                log(f"a heartbeat failed: {error}")

    def fetch(self, file: dict[str, Any]) -> bytes:
        """The payload or the parent's artifact, with its hash compared."""
        headers = {"x-weft-lease": self.job["lease_token"], "accept-encoding": "gzip"}
        content = self.server.send("GET", file["url"], None, headers, bytes_max=file["bytes"])
        if hashlib.sha256(content).hexdigest() != file["sha256"]:
            raise OSError(f"{file['url']} came with another hash")
        return content

    def upload(self, artifact: bytes) -> str:
        sha256 = hashlib.sha256(artifact).hexdigest()
        headers = {"x-weft-lease": self.job["lease_token"], "x-weft-sha256": sha256}
        headers["content-type"] = "application/octet-stream"
        self.server.send("PUT", f"{self.path}/artifact", artifact, headers)
        return sha256

    def fail(self, error: Exception) -> None:
        """Another attempt may mend most failures, as a full memory; an error says otherwise by `retryable`."""
        retryable = getattr(error, "retryable", True)
        code = "worker_failed" if retryable else getattr(error, "code", "invalid_data")
        message = (str(error) or type(error).__name__)[:MESSAGE_CHARS_MAX]
        self.post("fail", {"error": {"code": code, "message": message}, "retryable": retryable})

    def give_back(self) -> None:
        log(f"{self.name}: is given back")
        try:
            self.post("release", {}, tries=2, timeout=RELEASE_S_MAX)
        except (LeaseLost, Unreachable, Refused) as error:
            log(f"{self.name}: is dropped: {error}")


def work(report: JobReport, trainer: Callable[..., Any]) -> None:
    """Trains a claimed job. Whatever happens, it is completed, failed or given back, unless its lease is lost."""
    log(f"{report.name}: begins")
    try:
        threading.Thread(target=report.beat, daemon=True).start()
        try:
            step = run(report, trainer)
            log(f"{report.name}: step {step}")
        except Cancelled:
            report.give_back()
        except (LeaseLost, Unreachable):
            raise
        except Exception as error:
            log(f"{report.name}: fails: {type(error).__name__}: {error}")
            report.fail(error)
    except (LeaseLost, Unreachable, Refused) as error:
        if isinstance(error, Refused) and error.status in (401, 403):
            raise
        # Nothing can be told; the server gives the job to another worker when the lease ends.
        log(f"{report.name}: is dropped: {error}")
    finally:
        report.ended.set()


def run(report: JobReport, trainer: Callable[..., Any]) -> int:
    """Fetches, trains and hands in; the step of the new checkpoint."""
    groups = json.loads(report.fetch(report.job["payload"]))
    parent = (report.job["parent_checkpoint"] or {}).get("artifact")
    weights = None if parent is None else report.fetch(parent)
    artifact, metrics, reason = trainer(report.job, groups, weights, report)
    report.check()
    completion = {"metrics": metrics, "trained": artifact is not None, "reason": reason}
    if artifact is not None:
        completion["sha256"] = report.upload(artifact)
    return report.post("complete", completion)["checkpoint"]["step"]


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def stop(*_args: Any) -> NoReturn:
    # Giving the job back must not be interrupted by another signal.
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise Stopped


def load_trainer(name: str) -> Callable[..., Any]:
    """The function that `--train` names. An error inside its module is shown with its place."""
    sys.path.append(os.getcwd())
    module, _, function = name.partition(":")
    if not module or not function:
        sys.exit(f"--train {name} must be MODULE:FUNCTION, such as my_trainer:train.")
    try:
        trainer = getattr(importlib.import_module(module), function, None)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        sys.exit(f"--train {name}: there is no {module}.py here or beside worker.py.")
    if trainer is None:
        sys.exit(f"--train {name}: {module} has no function {function}.")
    return trainer


def main() -> None:
    parser = argparse.ArgumentParser(description="A worker for training jobs. The key is read from WEFT_WORKER_KEY.")
    parser.add_argument("--server", default="http://127.0.0.1:8080", help="address of the server")
    parser.add_argument("--base-model", action="append", help="base model to train; may be repeated; default: example")
    parser.add_argument("--train", default="token_table:train", metavar="MODULE:FUNCTION", help="what trains")
    options = parser.parse_args()
    key = os.environ.get("WEFT_WORKER_KEY", "")
    if not key:
        sys.exit("Set WEFT_WORKER_KEY to a key with the scope worker.")
    if not options.server.startswith(("http://", "https://")):
        sys.exit(f"--server {options.server} must begin with http:// or https://.")
    trainer = load_trainer(options.train)
    claim = {"worker_id": f"{socket.gethostname()}-{os.getpid()}", "worker_version": VERSION}
    claim.update(base_models=options.base_model or ["example"], wait_seconds=CLAIM_WAIT_S)
    server = Server(options.server, key)
    report: JobReport | None = None
    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    try:
        log(f"waits for jobs of {', '.join(claim['base_models'])}")
        while True:
            # A job whose answer is lost here comes back when its lease ends.
            job = server.post("/v1/preview/worker/claim", claim, tries=math.inf)
            if job is not None:
                report = JobReport(server, job)
                work(report, trainer)
                report = None
    except Stopped:
        if report is not None:
            report.give_back()
    except Refused as error:
        sys.exit(f"The server refuses this worker: {error}")


if __name__ == "__main__":
    main()
