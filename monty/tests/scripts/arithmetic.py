print(7 // 2, -7 // 2, 7 % 3, -7 % 3, 2**10, 7 / 2)
print(divmod(17, 5), pow(3, 4, 5), abs(-3), round(2.5), round(3.5))
print(1 < 2 < 3, 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, 256 >> 3)
print(bin(10), oct(10), hex(255), int('ff', 16), float('1.5'), bool(0))
