"""One file, one method, one card; `_template.py` is to be copied. Methods never import each other."""
