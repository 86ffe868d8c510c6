name, count = 'fox', 42
print(f'{name} {count} {count + 1} {name!r}')
print(f'{count:05d}|{count:>6}|{count:<6}|{count:^6}|{count:x}|{count:b}|{count:+d}')
print(f'{name:*^9}|{name:>{count // 7}}|{{}}')
print(f'{count=} {1234567:,}')
