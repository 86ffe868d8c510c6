# No module named 'statistics'
import json
import math
import statistics

values = json.loads('[1, 2, 3, 4]')
print(statistics.mean(values), math.sqrt(statistics.pvariance(values)))
