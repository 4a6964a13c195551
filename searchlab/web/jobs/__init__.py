"""Work outside the event loop: thread pools for requests, and training jobs."""
