"""Messages for users about failed jobs."""

from __future__ import annotations

import signal

from hetviz.errors import HetvizError

UNEXPECTED = (
    "This method failed because of an error in hetviz, not in your data. "
    "Your data and earlier maps are safe. Try other settings or another method."
)
NO_MEMORY = (
    "There is not enough memory for this number of items. Your data and earlier maps are "
    "safe. Try fewer items, or a method that needs less memory."
)
ENDED_FROM_OUTSIDE = (
    "The job was stopped by the system, most likely because the computer ran out of memory. Your "
    "data and earlier maps are safe. Try fewer items, or a method that needs less memory."
)
CANNOT_START = (
    "The worker process cannot be started on this computer. The server log has the reason. "
    "Your data and earlier maps are safe."
)


def user_error(error: BaseException) -> HetvizError:
    """Return the error of a task as an error for the user."""
    if isinstance(error, HetvizError):
        return error
    return HetvizError(NO_MEMORY if isinstance(error, MemoryError) else UNEXPECTED)


def is_unexpected(error: BaseException) -> bool:
    """Whether an error is unexpected, so that its traceback belongs in the log."""
    return not isinstance(error, HetvizError | MemoryError)


def worker_ended_error(returncode: int) -> HetvizError:
    """Return the error for a job whose process ended."""
    if returncode == -signal.SIGKILL:
        return HetvizError(ENDED_FROM_OUTSIDE)
    return HetvizError(
        f"The worker process ended unexpectedly ({describe_exit(returncode)}). Your "
        "data and earlier maps are safe. Try again, or try other settings or another method."
    )


def describe_exit(returncode: int) -> str:
    """Return the name of the signal or the exit code of a process."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"
