"""What a process gives up before it works on what somebody sent: the network, and more memory.

The network goes with a network namespace of its own that has no way out. Linux gives one to root,
and to others where user namespaces are allowed; `keep_off_network` says whether it did.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_MB = 1_000_000


def keep_off_network() -> bool:
    """Give up the network for good; return whether the system let us.

    To be called before any thread is started.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and libc.unshare(_NEW_NET) == 0:
        return True
    return bool(libc.unshare(_NEW_USER | _NEW_NET) == 0)


def limit_memory(megabytes: int) -> bool:
    """Take on a limit on the address space, none for 0; return whether the system let us."""
    if megabytes <= 0 or sys.platform == "win32":
        return False
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MB, megabytes * _MB))
        return True
    return False
