# no attribute 'OrderedDict'
import collections

ages = collections.OrderedDict()
ages['ann'] = 31
print(list(ages.items()))
