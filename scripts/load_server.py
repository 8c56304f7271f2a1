"""The server that `session_load.py` loads, in a process of its own: `python -m scripts.load_server SESSIONS`.

It prints its address, then answers each line on stdin with one of what it holds, in JSON, until stdin ends.
"""

import hashlib
import json
import sys

import mlx.core as mx

from harness.commands.sessions.options import load_engine, served_settings
from harness.remote.determinism import REMEMBERED
from harness.remote.device_thread import DeviceThread
from harness.remote.limits import Limits
from harness.remote.server import serving
from harness.remote.service import SessionService


def held(service: SessionService) -> dict[str, int]:
    """Open sessions, the K/V they hold, bytes of MLX, and histories that INV-3 compared."""
    return {
        "sessions": len(service._sessions),
        "kv_bytes": service.kv_bytes(),
        "mlx_active": mx.get_active_memory(),
        "mlx_cache": mx.get_cache_memory(),
        "compared": service.seen.compared,
    }


def main(sessions: int) -> None:
    """Serve k3-tiny with a bounded cache until stdin ends."""
    named = served_settings("k3-tiny", "incremental", "ablate", None, "none", 4, 64, None, None, 4, "two_phase")
    with DeviceThread() as device:
        service = SessionService(device.run("load", load_engine(named)).served, Limits(sessions=sessions), device)
        for number in range(REMEMBERED):  # what INV-3 remembers is bounded; full from the start, it does not grow
            service.seen.check(hashlib.sha256(str(number).encode()).digest(), 0, 0)
        with serving(service, "127.0.0.1:0") as address:
            print(address, flush=True)
            for _ in sys.stdin:
                print(json.dumps(held(service)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
