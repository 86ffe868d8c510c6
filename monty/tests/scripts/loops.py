total = 0
while True:
    total += 3
    if total % 2 == 0:
        continue
    if total > 20:
        break
print(total)
for divisor in range(2, 7):
    if 35 % divisor == 0:
        print('divisor', divisor)
        break
else:
    print('none')
for n in range(10, 0, -4):
    print(n, end=' ')
else:
    print('end', sep='')
print(*range(3), sep=', ')
