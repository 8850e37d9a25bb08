"""Methods, one per file. Copy `_template.py` to add one. Methods never import each other."""
