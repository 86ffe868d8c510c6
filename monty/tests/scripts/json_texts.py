import json

rows = json.loads('[{"name": "a", "n": 1}, {"name": "b", "n": 2.5, "ok": true, "no": null}]')
print(rows, rows[1]['ok'], sum(row['n'] for row in rows))
print(json.dumps(rows))
print(json.dumps({'b': [1, 2], 'a': {'c': 'd'}}, indent=2, sort_keys=True))
print(json.dumps({'x': 1}, separators=(',', ':')))
try:
    json.loads('{"a": }')
except json.JSONDecodeError as error:
    print('refused:', error)
