"""The worker process and the queue before it."""
