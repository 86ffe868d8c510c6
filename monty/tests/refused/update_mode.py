# update modes
try:
    argv
except NameError:
    import sys
    argv = sys.argv

with open(argv[1], 'r+') as file:
    print(file.read())
