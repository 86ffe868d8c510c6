for n in [-1, 0, 1, 15]:
    if n < 0:
        kind = 'negative'
    elif not n:
        kind = 'zero'
    else:
        kind = 'odd' if n % 2 else 'even'
    print(n, kind, n or 'nothing', n and 'something')
if (half := 15 // 2) > 5:
    print('half', half)
print(None is None, 1 == 1.0, [] == (), not [], 'a' not in 'bcd')
