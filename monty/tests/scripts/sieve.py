limit = 60
is_prime = [True] * (limit + 1)
is_prime[0] = is_prime[1] = False
for n in range(2, int(limit**0.5) + 1):
    if is_prime[n]:
        for multiple in range(n * n, limit + 1, n):
            is_prime[multiple] = False
print([n for n in range(limit + 1) if is_prime[n]])
