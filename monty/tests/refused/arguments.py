# No module named 'argparse'
import argparse

parser = argparse.ArgumentParser()
parser.add_argument('--count', type=int, default=3)
options = parser.parse_args([])
print(options.count)
