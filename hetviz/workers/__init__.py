"""Worker processes: started and confined in one way, with one form of messages."""
