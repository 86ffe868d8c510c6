# not iterable
try:
    argv
except NameError:
    import sys
    argv = sys.argv

total = 0
with open(argv[1]) as file:
    for line in file:
        total += int(line)
print(total)
