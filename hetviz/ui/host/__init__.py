"""The map in pages of others: one ES module, its input from Python, and a Streamlit component."""
