# no attribute 'maketrans'
table = str.maketrans('abc', 'xyz')
print('aabbcc'.translate(table))
