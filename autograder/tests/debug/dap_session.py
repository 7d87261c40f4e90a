"""dap_session.py ADAPTER PROGRAM - drives a session of the Debug Adapter Protocol, and validates every message
of both sides against protocol/debugAdapterProtocol.json.  Prints TAP lines."""
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import queue

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = json.load(open(os.path.join(HERE, "protocol", "debugAdapterProtocol.json")))
NAMES = {name.lower(): name for name in SCHEMA["definitions"]}
VALIDATORS = {}


def validate(message):
    """Against the definition of exactly this request, response or event."""
    kind = message["type"]
    name = message["event"] if kind == "event" else message["command"]
    if kind == "response" and not message["success"]:
        name = "error"
    definition = NAMES[(name + kind).lower()]
    if definition not in VALIDATORS:
        schema = {"$ref": "#/definitions/" + definition, "definitions": SCHEMA["definitions"]}
        VALIDATORS[definition] = jsonschema.Draft4Validator(schema)
    VALIDATORS[definition].validate(message)


class Client:
    def __init__(self, adapter, port=None):
        arguments = [adapter, "--dap", "--build", os.environ.get("BUILD", "build")]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sequence, self.messages, self.events, self.validated = 0, queue.Queue(), [], 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            length = None
            while True:
                line = self.process.stdout.readline()
                if not line:
                    self.messages.put(None)
                    return
                if line == b"\r\n":
                    break
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.messages.put(json.loads(self.process.stdout.read(length)))

    def take(self, seconds=60):
        message = self.messages.get(timeout=seconds)
        if message is not None:
            validate(message)
            self.validated += 1
        return message

    def send(self, command, arguments=None):
        self.sequence += 1
        message = {"seq": self.sequence, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        validate(message)
        self.raw(json.dumps(message).encode())
        return self.sequence

    def raw(self, body):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def ask(self, command, arguments=None):
        """The response; events before it are kept."""
        sequence = self.send(command, arguments)
        while True:
            message = self.take()
            assert message is not None, "the adapter is gone"
            if message["type"] == "response" and message["request_seq"] == sequence:
                return message
            self.events.append(message)

    def good(self, command, arguments=None):
        response = self.ask(command, arguments)
        assert response["success"], response
        return response.get("body", {})

    def wait(self, name):
        while True:
            for i, message in enumerate(self.events):
                if message.get("event") == name:
                    return self.events.pop(i).get("body", {})
            message = self.take()
            assert message is not None, "the adapter is gone, and " + name + " never came"
            self.events.append(message)

    def top(self, thread):
        return self.good("stackTrace", {"threadId": thread})["stackFrames"][0]

    def value(self, name, frame, context="watch"):
        return self.good("evaluate", {"expression": name, "frameId": frame, "context": context})["result"]


def session(adapter, program):
    client = Client(adapter)
    source = os.path.abspath(program)
    able = client.good("initialize", {"adapterID": "test", "pathFormat": "path"})
    assert able["supportsStepBack"] and able["supportsReadMemoryRequest"]
    refused = client.ask("threads")
    assert not refused["success"]
    client.good("launch", {"program": program})
    client.wait("initialized")
    set_ = client.good("setBreakpoints", {"source": {"path": source}, "breakpoints": [
        {"line": 30, "condition": "threadIdx.x == 5"}, {"line": 400},
        {"line": 32, "logMessage": "sum is {sum[0]}", "hitCondition": ">= 2"}]})["breakpoints"]
    assert set_[0]["verified"] and not set_[1]["verified"] and "400" in set_[1]["message"]
    client.good("setFunctionBreakpoints", {"breakpoints": [{"name": "multiply"}]})
    client.good("setExceptionBreakpoints", {"filters": ["fault", "barrier"]})
    client.good("configurationDone")
    stopped = client.wait("stopped")
    assert stopped["reason"] == "breakpoint" and stopped["hitBreakpointIds"] == [set_[0]["id"]], stopped
    thread = stopped["threadId"]
    threads = client.good("threads")["threads"]
    assert thread in [t["id"] for t in threads] and len(threads) == 2, threads
    frame = client.top(thread)
    assert frame["line"] == 30 and frame["source"]["path"] == source
    scopes = {s["name"]: s["variablesReference"]
              for s in client.good("scopes", {"frameId": frame["id"]})["scopes"]}
    assert list(scopes) == ["Locals", "Arguments", "Shared memory", "Built-ins", "Lanes of this warp",
                            "PTX registers"]
    locals_ = {v["name"]: v for v in client.good("variables", {"variablesReference": scopes["Locals"]})["variables"]}
    assert locals_["v"]["value"] == "5" and locals_["sum"]["indexedVariables"] == 3, locals_
    page = client.good("variables", {"variablesReference": locals_["sum"]["variablesReference"],
                                     "filter": "indexed", "start": 1, "count": 2})["variables"]
    assert [v["name"] for v in page] == ["[1]", "[2]"]
    for name in ("Arguments", "Shared memory", "Built-ins", "PTX registers"):
        assert client.good("variables", {"variablesReference": scopes[name]})["variables"], name
    lanes = client.good("variables", {"variablesReference": scopes["Lanes of this warp"]})["variables"]
    reference = [v for v in lanes if v["name"] == "v"][0]["variablesReference"]
    values = client.good("variables", {"variablesReference": reference})["variables"]
    assert len(values) == 32 and values[1]["value"] == "3", values
    assert client.value("v * 2", frame["id"], "hover") == "10"
    assert not client.ask("evaluate", {"expression": "nothing", "frameId": frame["id"]})["success"]
    assert "lanes are active" in client.value("lanes v", frame["id"], "repl")
    assert client.good("setVariable", {"variablesReference": scopes["Locals"], "name": "v",
                                       "value": "7"})["value"] == "7"
    memory = client.good("readMemory", {"memoryReference": client.value("x", frame["id"]), "count": 16})
    assert memory["data"] == "AAAAAAAAgD8AAABAAABAQA==", memory
    assert "data" not in client.good("readMemory", {"memoryReference": "0x10", "count": 16})
    code = client.good("disassemble", {"memoryReference": frame["instructionPointerReference"],
                                       "instructionOffset": -2, "instructionCount": 5})["instructions"]
    assert len(code) == 5
    assert client.good("loadedSources")["sources"][0]["path"] == source
    assert ".version" in client.good("source", {"sourceReference": 1})["content"]
    client.good("next", {"threadId": thread})
    assert client.wait("stopped")["reason"] == "breakpoint"  # multiply
    assert [f["name"] for f in client.good("stackTrace", {"threadId": thread})["stackFrames"]][:2] == \
        ["multiply", "twice"]
    client.good("setFunctionBreakpoints", {"breakpoints": []})
    client.good("stepOut", {"threadId": thread})
    client.wait("stopped")
    client.good("stepIn", {"threadId": thread})
    assert client.wait("stopped")["reason"] == "step"
    client.good("stepBack", {"threadId": thread})
    client.wait("stopped")
    client.good("stepBack", {"threadId": thread, "granularity": "instruction"})
    client.wait("stopped")
    client.good("reverseContinue", {"threadId": thread})
    assert "No more reverse-execution history" in client.wait("stopped")["text"]
    client.good("continue", {"threadId": thread})
    assert client.wait("stopped")["reason"] == "breakpoint"
    frame = client.top(thread)
    assert frame["line"] == 30
    info = client.good("dataBreakpointInfo", {"name": "sum[0]"})
    client.good("setDataBreakpoints", {"breakpoints": [{"dataId": info["dataId"], "accessType": "write"}]})
    client.good("continue", {"threadId": thread})
    assert client.wait("stopped")["reason"] == "data breakpoint"
    client.good("setDataBreakpoints", {"breakpoints": []})
    client.good("setInstructionBreakpoints", {"breakpoints": [
        {"instructionReference": frame["instructionPointerReference"]}]})
    client.good("setInstructionBreakpoints", {"breakpoints": []})
    client.good("setBreakpoints", {"source": {"path": source}, "breakpoints": []})
    client.good("continue", {"threadId": thread})
    assert client.wait("exited")["exitCode"] == 0
    client.wait("terminated")
    text = "".join(m["body"]["output"] for m in client.events if m.get("event") == "output")
    assert "23" in text, text
    client.good("disconnect")
    print("ok debug/dap-session")
    return client.validated


def broken_messages(_adapter, _program):
    """The schema must refuse messages that lack a field, or have a wrong one."""
    stopped = {"seq": 1, "type": "event", "event": "stopped", "body": {"reason": "step", "threadId": 1}}
    answer = {"seq": 2, "type": "response", "request_seq": 1, "success": True, "command": "threads",
              "body": {"threads": [{"id": 1, "name": "warp 0"}]}}
    for message in (stopped, answer):
        validate(message)
    for message, change in ((stopped, {"body": {"threadId": 1}}), (stopped, {"seq": "1"}),
                            (answer, {"body": {"threads": [{"id": 1}]}}), (answer, {"request_seq": None}),
                            (answer, {"body": {"threads": [{"id": "1", "name": "warp 0"}]}})):
        try:
            validate({**message, **change})
        except jsonschema.ValidationError:
            continue
        raise AssertionError("a broken message is accepted: %r" % change)
    print("ok debug/dap-broken-messages-are-refused")


def bad_messages(adapter, program):
    client = Client(adapter)
    client.good("initialize", {"adapterID": "test"})
    client.raw(b"{ not json")
    assert "no JSON object" in client.wait("output")["output"]
    refused = client.ask("launch", {"program": "/nothing/here.cu"})
    assert not refused["success"] and "there is no file" in refused["message"], refused
    refused = client.ask("launch", {})
    assert not refused["success"]
    client.good("launch", {"program": program, "stopOnEntry": True})
    client.wait("initialized")
    for command, arguments in (("stackTrace", {"threadId": 99}), ("variables", {"variablesReference": 77}),
                               ("scopes", {"frameId": -1}), ("next", {"threadId": 1}),
                               ("readMemory", {"memoryReference": "zzz", "count": -5}),
                               ("setBreakpoints", {"source": {}}),
                               ("evaluate", {"expression": "((((", "context": "repl"})):
        client.ask(command, arguments)
    for text in ("quit", "qu", "k", "q{i}uit", "ru", " exit"):
        refused = client.ask("evaluate", {"expression": text, "context": "repl"})
        assert not refused["success"] and "use its buttons" in refused["message"], (text, refused)
    client.raw(json.dumps({"seq": 900, "type": "request", "command": "dance"}).encode())
    client.good("configurationDone")
    assert client.wait("stopped")["reason"] == "entry"
    client.raw(b"[" * 5000)
    client.raw(json.dumps({"seq": 901, "type": "request"}).encode())
    client.raw(json.dumps({"seq": "x", "type": "request", "command": 5, "arguments": 7}).encode())
    client.good("threads")
    client.process.stdin.write(b"Content-Length: 99999999999\r\n\r\n")
    client.process.stdin.flush()
    while "8 MiB" not in client.wait("output")["output"]:
        pass
    client.process.stdin.close()
    assert client.process.wait(20) == 0
    print("ok debug/dap-bad-messages")


def port_open(adapter):
    """An adapter that waits on a port, and the port."""
    port = 20000 + os.getpid() % 20000
    server = subprocess.Popen([adapter, "--dap", "--port", str(port), "--build", os.environ.get("BUILD", "build")],
                              stderr=subprocess.PIPE, text=True)
    assert "waits for a client" in server.stderr.readline()
    return server, port


def answer_of(port, data):
    with socket.create_connection(("127.0.0.1", port), 60) as wire:
        wire.sendall(data)
        wire.shutdown(socket.SHUT_WR)
        parts = []
        try:
            parts.extend(iter(lambda: wire.recv(65536), b""))
        except ConnectionResetError:
            pass  # the adapter has ended without reading all
        return b"".join(parts)


def attacks(adapter, program):
    """A page in a browser can send such a request to a port of this machine; another user can connect."""
    launch = json.dumps({"seq": 1, "type": "request", "command": "launch", "arguments": {"program": program}}).encode()
    post = (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\n"
            b"Content-Length: %d\r\n\r\n" % len(launch)) + launch
    server, port = port_open(adapter)
    answer = answer_of(port, post)
    assert b"launch" not in answer and b"initialized" not in answer, answer
    assert server.wait(20) == 1
    if os.geteuid() == 0 and shutil.which("setpriv"):
        server, port = port_open(adapter)
        ask = json.dumps({"seq": 1, "type": "request", "command": "initialize"}).encode()
        frame = b"Content-Length: %d\r\n\r\n" % len(ask) + ask
        client = ("import socket, sys\nwire = socket.create_connection(('127.0.0.1', %d), 60)\n"
                  "wire.settimeout(60)\ntry:\n    wire.sendall(%r)\n    sys.stdout.buffer.write(wire.recv(10))\n"
                  "except OSError:\n    pass" % (port, frame))
        other = ["setpriv", "--reuid", "65534", "--clear-groups", "/usr/bin/python3", "-c", client]
        refused = subprocess.run(other, stdout=subprocess.PIPE, check=True).stdout
        assert refused == b"", refused
        assert b"supportsStepBack" in answer_of(port, frame)
        assert server.wait(20) == 0
    print("ok debug/dap-attacks-on-the-port")


def main():
    adapter, program = sys.argv[1:3]
    for test in (broken_messages, session, bad_messages, attacks):
        try:
            count = test(adapter, program)
            if count:
                print("# %d messages of the adapter were validated" % count)
        except Exception as error:  # pylint: disable=broad-except
            print("not ok debug/dap-%s: %r" % (test.__name__, error))
            import traceback
            traceback.print_exc(file=sys.stdout)


main()
