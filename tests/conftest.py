"""What holds for every test: an interrupt reaches the processes that tests start."""

from __future__ import annotations

import signal
import threading

# A shell starts background jobs with SIGINT ignored, and so would every process started here. A process that is started
# inherits that a signal is ignored, and never a handler.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
