def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def hanoi(discs, source, target, spare):
    if discs == 0:
        return 0
    return hanoi(discs - 1, source, spare, target) + 1 + hanoi(discs - 1, spare, target, source)


print([fibonacci(n) for n in range(15)], hanoi(8, 'a', 'b', 'c'))
