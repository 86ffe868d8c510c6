# no attribute 'load'
import json

try:
    argv
except NameError:
    import sys
    argv = sys.argv

with open(argv[2]) as file:
    rows = json.load(file)
print(sum(row['n'] for row in rows))
