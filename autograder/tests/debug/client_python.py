"""client_python.py ADAPTER PROGRAM - a third-party client, dap-python of PyPI, drives a session over a
port, from a breakpoint to stepBack.  The exit status is 0 if it succeeds."""
import os
import socket
import subprocess
import sys
import time

import dap
import pydantic

adapter, program = sys.argv[1:3]
PORT = 20000 + os.getpid() % 20000
server = subprocess.Popen([adapter, "--dap", "--port", str(PORT), "--build", os.environ.get("BUILD", "build")],
                          stderr=subprocess.DEVNULL)
client = dap.Client("cuda-sim")
for attempt in range(100):
    try:
        wire = socket.create_connection(("127.0.0.1", PORT), 60)
        break
    except OSError:
        time.sleep(0.1)
wire.settimeout(60)

# dap-python 0.5 declares the numbers of breakpoints as texts, against the protocol.
handle_event = dap.handler.Handler.handle_event


def handle_without_numbers(self, event):
    if event.event == "stopped":
        event.body.pop("hitBreakpointIds", None)
    return handle_event(self, event)


dap.handler.Handler.handle_event = handle_without_numbers
kept = []


def wait(name):
    """Until a response or an event of that class has come."""
    while True:
        for i, result in enumerate(kept):
            if type(result).__name__ == name:
                del kept[:i + 1]
                return result
        wire.sendall(client.send())
        data = wire.recv(65536)
        while True:
            try:
                kept.extend(client.receive(data))
                break
            except pydantic.ValidationError:
                data = b""  # dap-python 0.5 wants more fields in the body of an empty response


wait("Initialized")
client.send_request("launch", {"program": program})
wait("InitializedEvent")
client.set_breakpoints({"path": os.path.abspath(program)}, [{"line": 32}])
assert wait("SetBreakpointsResponse").breakpoints[0].verified
client.configuration_done()
stopped = wait("StoppedEvent")
assert stopped.reason == "breakpoint", stopped
client.stack_trace(stopped.threadId)
assert wait("StackTraceResponse").stackFrames[0].line == 32
client.evaluate("sum[0]", context="watch")
assert wait("EvaluateResponse").result == "1"
client.next(stopped.threadId)
wait("StoppedEvent")
client.step_back(stopped.threadId)
wait("StoppedEvent")
client.stack_trace(stopped.threadId)
assert wait("StackTraceResponse").stackFrames[0].line == 32
client.disconnect()
wire.sendall(client.send())
assert server.wait(30) == 0
