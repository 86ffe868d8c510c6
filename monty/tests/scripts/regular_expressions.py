import re

text = 'ann: 31, bob: 27; cid: 45'
print(re.findall(r'(\w+): (\d+)', text), re.split(r'[,;] ', text))
print(re.sub(r'(\w+): (\d+)', r'\2 \1', text))
match = re.search(r'(?P<name>b\w+): (?P<age>\d+)', text)
print(match.group('name'), match.group(2), match.span(), match.groups())
pattern = re.compile(r'^\w+', re.IGNORECASE)
print(pattern.match('Hello there').group(), pattern.match('!') is None)
print([found.start() for found in re.finditer('b', text)])
