from collections import namedtuple

Point = namedtuple('Point', ['x', 'y'])
point = Point(3, y=4)
print(point, point.x, point[1], point._fields, point == (3, 4))
x, y = point
print(x * y)
