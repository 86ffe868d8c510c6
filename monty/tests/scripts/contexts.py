class Step:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print('enter', self.name)
        return self

    def __exit__(self, kind, error, traceback):
        print('exit', self.name, kind is None)
        return kind is not None


with Step('one') as step:
    print('inside', step.name)
with Step('two'):
    raise ValueError('swallowed')
print('after')
