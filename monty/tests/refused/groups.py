# cannot import name 'groupby'
from itertools import groupby

words = sorted(['ant', 'bee', 'ape', 'bat'])
for letter, group in groupby(words, key=lambda word: word[0]):
    print(letter, list(group))
