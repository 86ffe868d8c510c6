def describe(name, greeting='Hello', *extra, mark='!', **options):
    return f'{greeting}, {name}{mark} {extra} {options}'


print(describe('Ann'))
print(describe('Bob', 'Hi', 1, 2, mark='?', colour='red'))
arguments, named = ['Cid', 'Hey'], {'mark': '.'}
print(describe(*arguments, **named))
print((lambda a, b=2: a * b)(4), list(map(len, ['a', 'bb'])), list(filter(None, [0, 1, 2])))
