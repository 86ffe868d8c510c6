text = '  The quick brown fox  '
print(text.strip().upper(), text.strip().lower(), text.strip().title())
print(text.split(), '-'.join(text.split()))
print(text.strip().replace('quick', 'slow'), text.find('quick'), text.count('o'))
print('abc'.center(9, '*'), '7'.zfill(3), 'a,b,c'.partition(','), 'abc'[::-1])
print('line one\nline two'.splitlines(), 'abc'.startswith('ab'), 'abc'.endswith('bc'))
print('abc' * 3, 'b' in 'abc', 'abc' < 'abd', ord('a'), chr(98))
