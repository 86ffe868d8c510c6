import itertools

print(list(itertools.islice(itertools.count(5, 3), 4)), list(itertools.chain([1], [2, 3])))
print(list(itertools.accumulate([1, 2, 3, 4])), list(itertools.pairwise('abcd')))
print(list(itertools.takewhile(lambda n: n < 3, range(9))))
print(list(itertools.zip_longest('ab', [1], fillvalue=0)), list(zip('ab', [1, 2, 3])))
letters = iter('ab')
print(next(letters), next(letters), next(letters, 'end'), list(reversed([1, 2])))
