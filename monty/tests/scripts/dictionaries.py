ages = {'ann': 31, 'bob': 27}
ages['cid'] = 45
ages.update({'bob': 28})
print(ages, len(ages), 'ann' in ages, ages.get('dan'), ages.get('dan', 0))
for name, age in ages.items():
    print(name, age)
print(list(ages.keys()), list(ages.values()), ages.pop('ann'), ages)
print({age: name for name, age in ages.items()}, dict([('a', 1)]), dict(b=2))
print(ages.setdefault('eve', 5), ages)
