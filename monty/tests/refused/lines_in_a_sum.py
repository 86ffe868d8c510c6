# not iterable
try:
    argv
except NameError:
    import sys
    argv = sys.argv

print(sum(int(line) for line in open(argv[1])))
