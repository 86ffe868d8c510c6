# no attribute 'argv'
import sys

names = sys.argv[1:]
for name in names or ['world']:
    print('Hello', name)
