# 'file' argument
import sys


def warn(message):
    print('warning:', message, file=sys.stderr)


warn('two rows are empty')
print('done')
