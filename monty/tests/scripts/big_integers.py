number = 2**100
print(number, -number, number % 97, number // 12345)
factorial = 1
for factor in range(1, 31):
    factorial *= factor
print(factorial, len(str(factorial)))
print(number > 2**99, number == 2**100, number & (2**70 - 1))
