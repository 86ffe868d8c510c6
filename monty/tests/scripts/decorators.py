def logged(function):
    def wrapper(*arguments, **named):
        result = function(*arguments, **named)
        print('call', arguments, named, result)
        return result

    return wrapper


def times(factor):
    def decorate(function):
        return lambda value: factor * function(value)

    return decorate


@logged
def add(a, b=1):
    return a + b


@times(3)
def successor(value):
    return value + 1


add(1)
add(2, b=5)
print(successor(4))
