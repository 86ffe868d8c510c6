# '<=' not supported
required, present = ['a', 'b'], ['a', 'b', 'c']
if set(required) <= set(present):
    print('complete')
