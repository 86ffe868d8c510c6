# No module named 'csv'
import csv

rows = list(csv.reader(['name,score', 'ann,3', 'bob,4']))
header, *records = rows
scores = [int(record[1]) for record in records]
print(header, sum(scores) / len(scores))
