import base64

data = 'grün'.encode()
print(data, len(data), data.hex(), data.decode('utf-8'), b'hi' * 2)
print(base64.b64encode(data), base64.b64decode('Z3LDvG4=').decode())
print(data[0], data[:2], b'a' + b'b', b'abc'.find(b'c'), b'a,b'.split(b','))
