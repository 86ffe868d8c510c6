table = 'name,score\nann,3\nbob,4\ncid,8\n'
header, *lines = table.strip().split('\n')
columns = header.split(',')
rows = [dict(zip(columns, line.split(','))) for line in lines]
scores = [int(row['score']) for row in rows]
mean = sum(scores) / len(scores)
variance = sum((score - mean) ** 2 for score in scores) / len(scores)
print(rows, mean, round(variance, 6))
for row in rows:
    print(row['name'].ljust(5), '#' * int(row['score']))
