def attempt(action):
    try:
        value = action()
    except ZeroDivisionError as error:
        return f'division: {type(error).__name__}'
    except (KeyError, IndexError) as error:
        return f'lookup: {type(error).__name__}'
    except Exception as error:
        return f'other: {type(error).__name__}'
    else:
        return f'fine: {value}'
    finally:
        print('done')


print(attempt(lambda: 1 // 0))
print(attempt(lambda: {}['a']))
print(attempt(lambda: [][1]))
print(attempt(lambda: int('x')))
print(attempt(lambda: 7))
try:
    raise ValueError('of our own')
except ValueError as error:
    print(error)
