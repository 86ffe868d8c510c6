from collections import Counter, defaultdict, deque

words = 'the cat and the dog and the bird'.split()
print(Counter(words).most_common(2), Counter(words)['the'], Counter(words)['fox'])
by_letter = defaultdict(list)
for word in words:
    by_letter[word[0]].append(word)
print(dict(by_letter))
line = deque([1, 2, 3], maxlen=3)
line.append(4)
line.appendleft(0)
print(list(line), line.pop(), line.popleft())
