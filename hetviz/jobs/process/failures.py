"""What a job that failed says to the person who started it: one plain sentence or two."""

from __future__ import annotations

import signal

from hetviz.errors import HetvizError

UNEXPECTED = (
    "Something went wrong inside this method, which is a fault of hetviz and not of your data. "
    "Your data and earlier maps are untouched; try other settings or another method."
)
NO_MEMORY = (
    "There is not enough memory for this with as many items. Your data and earlier maps are "
    "untouched; try fewer items, or a method that needs less memory."
)
ENDED_FROM_OUTSIDE = (
    "The work was ended from outside, most likely because the computer ran out of memory. Your "
    "data and earlier maps are untouched; try fewer items, or a method that needs less memory."
)
CANNOT_START = (
    "The process that does the long work cannot be started on this computer; the log of the "
    "server says why. Your data and earlier maps are untouched."
)


def user_error(error: BaseException) -> HetvizError:
    """Return what to tell of an error that a task raised: itself if it is ours, else a sentence."""
    if isinstance(error, HetvizError):
        return error
    return HetvizError(NO_MEMORY if isinstance(error, MemoryError) else UNEXPECTED)


def is_unexpected(error: BaseException) -> bool:
    """Whether an error is one that nobody foresaw, so that its traceback belongs in the log."""
    return not isinstance(error, HetvizError | MemoryError)


def worker_ended_error(returncode: int) -> HetvizError:
    """Return what to tell of work whose process ended under it, from how it ended."""
    if returncode == -signal.SIGKILL:
        return HetvizError(ENDED_FROM_OUTSIDE)
    return HetvizError(
        f"The process that did the work ended without warning ({describe_exit(returncode)}). Your "
        "data and earlier maps are untouched; try again, or other settings or another method."
    )


def describe_exit(returncode: int) -> str:
    """Name the signal or the exit code in which a process ended."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"
