# No module named 'random'
from random import Random

print(len(Random(5).sample(range(100), 10)))
