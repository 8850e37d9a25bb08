"""One item: its head, card, pictures, texts, panel and explanations."""
