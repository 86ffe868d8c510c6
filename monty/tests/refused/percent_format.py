# unsupported operand
rows = [('ann', 3.5), ('bob', 12.25)]
for name, score in rows:
    print('%-6s %6.2f' % (name, score))
