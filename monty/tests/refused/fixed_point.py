# name 'format' is not defined
values = [3.14159, 2.71828]
print([format(value, '.2f') for value in values])
