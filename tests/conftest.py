"""What holds for every test: an interrupt reaches the processes that tests start."""

from __future__ import annotations

import signal
import threading

# A shell starts background jobs with SIGINT ignored, and so would be every process started here: a handler is not
# inherited, being ignored is.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
