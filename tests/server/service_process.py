"""Starts `sardonyx serve` for a test and talks to it."""
import http.client
import json
import re
import signal
import subprocess
import tempfile
import threading
import time

PROGRAM, MODEL = None, None  # set by the test program


class Service:
    """One running service on a free port. `with Service() as service:` ends it with SIGTERM."""

    def __init__(self, *options, model=None):
        self.log = tempfile.TemporaryFile("w+")
        command = [PROGRAM, "serve", str(model or MODEL), "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        self.ready_line = line.strip()
        match = re.search(r"http://[\d.]+:(\d+)/", line)
        if match is None:
            self.process.wait(timeout=60)
            raise RuntimeError(f"the service did not start: {self.ready_line!r}\n{self.log_text()}")
        self.port = int(match[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        self.process.stdout.close()
        self.log.close()

    def signal(self):
        self.process.send_signal(signal.SIGTERM)

    def stop(self, timeout=60):
        """-> exit status after SIGTERM"""
        self.signal()
        return self.process.wait(timeout=timeout)

    def log_text(self):
        self.log.seek(0)
        return self.log.read()

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, headers={}):
        """-> (status, body) over a connection of its own"""
        connection = self.connect()
        try:
            return send(connection, method, path, body, headers)
        finally:
            connection.close()

    def analyze(self, text):
        status, body = self.request("POST", "/analyze", json.dumps({"text": text}))
        return status, json.loads(body)


def send(connection, method, path, body=None, headers={}):
    connection.request(method, path, body=body, headers=headers)
    response = connection.getresponse()
    return response.status, response.read().decode()


class Client(threading.Thread):
    """Sends texts over one connection, again and again, until told to stop or the service is gone.

    Every request ends in exactly one of: a status, "refused" (the connection was never accepted), or "lost" (it was
    accepted, and no answer came)."""

    def __init__(self, service, texts, stop):
        super().__init__()
        self.service, self.texts, self.stop = service, texts, stop
        self.outcomes, self.answers, self.times = [], {}, []

    def run(self):
        connection, i = None, 0
        while not self.stop.is_set() and "refused" not in self.outcomes:
            if connection is None:
                connection = self.service.connect()
                try:
                    connection.connect()
                except ConnectionRefusedError:
                    self.outcomes.append("refused")
                    break
            text = self.texts[i % len(self.texts)]
            i += 1
            started = time.perf_counter()
            try:
                connection.request("POST", "/analyze", body=json.dumps({"text": text}))
                response = connection.getresponse()
                body = response.read()
            except (OSError, http.client.HTTPException) as error:
                self.outcomes.append(f"lost: {error!r}")
                connection.close()
                connection = None
                continue
            self.times.append(time.perf_counter() - started)
            self.outcomes.append(response.status)
            if response.status == 503:
                time.sleep(0.02)
            if response.status == 200:
                self.answers.setdefault(text, set()).add(body)
            if response.will_close:
                connection.close()
                connection = None
        if connection is not None:
            connection.close()
