# yield
def evens(limit):
    for n in range(0, limit, 2):
        yield n


print(list(evens(10)))
