# 'del' statement
ages = {'ann': 31, 'bob': 27}
del ages['ann']
print(ages)
