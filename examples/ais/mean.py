"""Prints the mean of one column of a table: python mean.py TABLE COLUMN"""

import csv
import sys

table, column = sys.argv[1:]
with open(table, newline="", encoding="utf-8") as rows:
    values = [float(row[column]) for row in csv.DictReader(rows)]
print(f"{sum(values) / len(values):.2f}")
