# no attribute 'exit'
import sys


def main():
    print('working')
    return 0


if __name__ == '__main__':
    sys.exit(main())
