# no attribute 'prod'
import math

print(math.prod([1, 2, 3, 4]))
