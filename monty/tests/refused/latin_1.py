# 'encoding' argument
try:
    argv
except NameError:
    import sys
    argv = sys.argv

with open(argv[1], encoding='latin-1') as file:
    print(len(file.read()))
