point = (3, 4)
x, y = point
first, *rest = [1, 2, 3, 4]
*start, last = 'abc'
print(point, x, y, first, rest, start, last)
x, y = y, x
print(x, y, point + (5,), point * 2, point.index(4), (1, 2) < (1, 3))
for index, (left, right) in enumerate([(1, 2), (3, 4)], start=1):
    print(index, left, right)
