# no attribute 'lower'
words = ['banana', 'Apple', 'cherry']
print(sorted(words, key=str.lower))
