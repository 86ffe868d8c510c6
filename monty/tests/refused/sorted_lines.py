# not iterable
try:
    argv
except NameError:
    import sys
    argv = sys.argv

file = open(argv[1])
for line in sorted(file):
    print(line.strip())
