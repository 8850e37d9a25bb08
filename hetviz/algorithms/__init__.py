"""One file, one method, one card: copy `_template.py`. Methods never import each other."""
