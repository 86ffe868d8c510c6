def counter(step):
    total = 0

    def advance():
        nonlocal total
        total += step
        return total

    return advance


by_two, by_five = counter(2), counter(5)
print(by_two(), by_two(), by_five(), by_two(), by_five())
calls = 0


def count():
    global calls
    calls += 1


count()
count()
print(calls)
