# no attribute 'path'
import os

name = 'table.tar.gz'
print(os.path.splitext(name)[0], os.path.join('a', 'b'))
