# 'os.environ' is not supported
import os

print(len(os.environ.get('HOME', '')) >= 0)
