#!/usr/bin/env python3
"""The service as its clients see it: answers, limits, probes under load, and stopping.

    server_test.py --program build/release/apps/sardonyx --model models/sentiment [--seconds 5] [TEST...]"""
import argparse
import collections
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import service_process as sp  # noqa: E402

SECONDS = 5
CLIENTS = 10
TEXTS = ["What a lovely day.", "The worst purchase of my life, it broke at once.", "It is a chair.",
         "I loved every minute of it, " * 12, "Terrible service and cold food. " * 20]


def run_clients(service, seconds, during=None):
    """-> the clients, after they have sent texts for that long; `during` is called in the middle"""
    stop = threading.Event()
    clients = [sp.Client(service, TEXTS[i % 3:] + TEXTS[:i % 3], stop) for i in range(CLIENTS)]
    for client in clients:
        client.start()
    time.sleep(seconds / 2)
    if during:
        during()
    time.sleep(seconds / 2)
    stop.set()
    for client in clients:
        client.join()
    return clients


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = sp.Service("--header-timeout", "1", "--body-timeout", "1", "--max-body", "20000")

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def test_texts(self):
        status, answer = self.service.analyze("What a lovely day.")
        self.assertEqual((status, answer["label"]), (200, "POSITIVE"))
        self.assertEqual(set(answer), {"label", "score"})
        self.assertTrue(0.5 < answer["score"] <= 1)
        self.assertEqual(self.service.analyze("It broke at once. A waste of money.")[1]["label"], "NEGATIVE")
        for text in ("", " ", "\u0000", "日本語のテキスト", "🙂" * 100, "a" * 10000):
            status, answer = self.service.analyze(text)
            self.assertEqual(status, 200, text[:20])
            self.assertIn(answer["label"], ("POSITIVE", "NEGATIVE"))

    def test_long_texts_say_that_they_were_cut(self):
        _, answer = self.service.analyze("fine " * 1000)
        self.assertTrue(answer["truncated"])
        self.assertEqual(answer["tokens"], 1002)
        status, body = self.service.request("POST", "/analyze", json.dumps({"text": "fine " * 1000, "truncate": False}))
        self.assertEqual(status, 422, body)

    def test_the_printed_line_works(self):
        command = self.service.ready_line.removeprefix("ready: ")
        answer = json.loads(subprocess.run(command, shell=True, capture_output=True, check=True, text=True).stdout)
        self.assertEqual(answer["label"], "POSITIVE")

    def test_probes_and_ping(self):
        self.assertEqual(self.service.request("GET", "/ping"), (200, '{"text":"pong"}'))
        for path in ("/health", "/v2/health/live", "/v2/health/ready"):
            self.assertEqual(self.service.request("GET", path)[0], 200, path)
            self.assertEqual(self.service.request("HEAD", path), (200, ""), path)

    def test_bad_requests(self):
        cases = {"{": 400, "": 400, "[]": 422, "{}": 422, '{"text": 1}': 422, "[" * 10000: 400, '{"text": "\udcff"}': 400}
        for body, expected in cases.items():
            status, answer = self.service.request("POST", "/analyze", body.encode("utf-8", "surrogateescape"))
            self.assertEqual(status, expected, body[:20])
            self.assertEqual(set(json.loads(answer)), {"error", "error_type"}, body[:20])
        self.assertEqual(self.service.request("GET", "/nothing")[0], 404)
        self.assertEqual(self.service.request("GET", "/analyze")[0], 405)
        self.assertEqual(self.service.request("POST", "/analyze", "x" * 20001)[0], 413)
        self.assertEqual(self.service.request("GET", "/ping", headers={"X": "y" * 20000})[0], 431)

    def test_slow_clients_time_out_and_harm_nobody(self):
        slow = [socket.create_connection(("127.0.0.1", self.service.port)) for _ in range(50)]
        for i, client in enumerate(slow):
            client.sendall(b"POST /analyze HTTP/1.1\r\n" + (b"Content-Length: 9\r\n\r\n{" if i % 2 else b"X: "))
        self.assertEqual(self.service.analyze("still here")[0], 200)
        started = time.monotonic()
        for client in slow:
            client.settimeout(10)
            try:
                self.assertEqual(client.recv(1000), b"")
            except ConnectionResetError:
                pass
            client.close()
        self.assertLess(time.monotonic() - started, 8)
        self.assertEqual(self.service.analyze("still here")[0], 200)

    def test_metrics(self):
        self.service.analyze("counted")
        page = self.service.request("GET", "/metrics")[1]
        values = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
        self.assertGreater(float(values['sardonyx_requests_total{route="/analyze",status="200"}']), 0)
        self.assertEqual(float(values["sardonyx_ready"]), 1)
        self.assertGreater(float(values["process_resident_memory_bytes"]), 1e6)


class Load(unittest.TestCase):
    def test_ten_clients_get_one_answer_each(self):
        probes = []
        with sp.Service("--log-level", "warning") as service:
            alone = {text: service.request("POST", "/analyze", json.dumps({"text": text}))[1].encode() for text in TEXTS}

            def probe():
                for _ in range(20):
                    started = time.perf_counter()
                    self.assertEqual(service.request("GET", "/v2/health/live")[0], 200)
                    probes.append(time.perf_counter() - started)

            clients = run_clients(service, SECONDS, during=probe)
            outcomes = collections.Counter(o for c in clients for o in c.outcomes)
            self.assertEqual(set(outcomes), {200}, outcomes)
            for client in clients:
                for text, answers in client.answers.items():
                    self.assertEqual(answers, {alone[text]}, "a text's answer depends on what else runs")
            self.assertEqual(service.stop(), 0)
        times = [t for c in clients for t in c.times]
        print(f"\n{outcomes[200]} requests of {CLIENTS} clients; median {statistics.median(times) * 1e3:.1f} ms; "
              f"probes: median {statistics.median(probes) * 1e3:.1f} ms, slowest {max(probes) * 1e3:.1f} ms")
        self.assertLess(statistics.median(probes), 0.1)

    def test_a_full_queue_refuses_at_once(self):
        with sp.Service("--max-queue", "1", "--threads", "1", "--log-level", "warning") as service:
            clients = run_clients(service, 2)
            outcomes = collections.Counter(o for c in clients for o in c.outcomes)
            self.assertEqual(set(outcomes), {200, 429}, outcomes)
            self.assertEqual(service.analyze("fine")[0], 200)


class Stopping(unittest.TestCase):
    def test_sigterm_under_load_loses_nothing(self):
        for _ in range(3):
            with sp.Service("--log-level", "warning") as service:
                clients = run_clients(service, 2, during=service.signal)
                self.assertEqual(service.process.wait(timeout=30), 0)
                outcomes = collections.Counter(o for c in clients for o in c.outcomes)
                self.assertLessEqual(set(outcomes), {200, 503, "refused"}, outcomes)
                self.assertGreater(outcomes[200], 0)

    def test_not_ready_while_it_drains(self):
        with sp.Service("--linger", "3") as service:
            connection = service.connect()
            self.assertEqual(sp.send(connection, "GET", "/v2/health/ready")[0], 200)
            service.signal()
            deadline = time.monotonic() + 20
            while (status := sp.send(connection, "GET", "/v2/health/ready")[0]) == 200 and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(status, 503)
            connection.close()
            self.assertEqual(service.process.wait(timeout=30), 0)

    def test_idle_and_half_sent_requests_do_not_hold_it_up(self):
        with sp.Service("--drain-timeout", "2") as service:
            idle = socket.create_connection(("127.0.0.1", service.port))
            half = socket.create_connection(("127.0.0.1", service.port))
            half.sendall(b"POST /analyze HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.1)
            started = time.monotonic()
            self.assertEqual(service.stop(), 0)
            self.assertLess(time.monotonic() - started, 10)
            idle.close()
            half.close()

    def test_logs_are_json_lines_with_request_ids(self):
        with sp.Service() as service:
            service.request("POST", "/analyze", '{"text": "x"}', {"X-Request-Id": "my-id-7"})
            service.stop()
            events = [json.loads(line) for line in service.log_text().splitlines()]
        self.assertEqual([e["event"] for e in events if e["event"] != "request"], ["listening", "ready", "stopping", "stopped"])
        self.assertEqual([e["request_id"] for e in events if e["event"] == "request"], ["my-id-7"])


class Starting(unittest.TestCase):
    def status(self, *arguments):
        done = subprocess.run([sp.PROGRAM, "serve", *map(str, arguments)], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    def test_what_cannot_be_served(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(self.status(empty, "--port", 0)[0], 13)
        self.assertEqual(self.status("/nowhere", "--port", 0)[0], 13)
        self.assertEqual(self.status(sp.MODEL, "--host", "nowhere.example")[0], 10)
        self.assertEqual(self.status(sp.MODEL, "--port", 99999)[0], 2)
        with sp.Service() as service:
            status, message = self.status(sp.MODEL, "--port", service.port)
            self.assertEqual(status, 14)
            self.assertIn("--port", message)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options, rest = parser.parse_known_args()
    sp.PROGRAM, sp.MODEL, SECONDS = options.program, options.model, options.seconds
    unittest.main(argv=[sys.argv[0], *rest])
