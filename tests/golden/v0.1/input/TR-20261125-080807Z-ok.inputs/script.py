import os, sys
print('to stdout')
print('to stderr', file=sys.stderr)
os.mkdir('/out/deep')
open('/out/deep/kept', 'w').write('kept')
