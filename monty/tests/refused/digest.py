# No module named 'hashlib'
import hashlib

print(hashlib.sha256(b'text').hexdigest())
