import math

print(math.sqrt(16), math.floor(2.7), math.ceil(2.1), math.factorial(10), math.gcd(12, 18))
print(round(math.pi, 6), round(math.sin(1), 9), round(math.log(10), 9), math.pow(3, 4))
print(math.isnan(float('nan')), math.isclose(0.1 + 0.2, 0.3), math.comb(5, 2), math.isqrt(17))
print(math.trunc(-2.5), math.copysign(3, -1), math.exp(0))
