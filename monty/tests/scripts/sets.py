first, second = {1, 2, 3, 4}, {3, 4, 5}
print(sorted(first | second), sorted(first & second), sorted(first - second))
print(sorted(first ^ second), 3 in first, first.issubset(second), {3}.issubset(second))
first.add(9)
first.discard(1)
print(sorted(first), len(first), sorted(frozenset([2, 1])), sorted(set('hello')))
