from functools import partial, reduce

double = partial(lambda factor, value: factor * value, 2)
print(double(4), reduce(lambda a, b: a * b, [1, 2, 3, 4]), reduce(lambda a, b: a + b, [], 9))
print(list(map(double, range(4))))
