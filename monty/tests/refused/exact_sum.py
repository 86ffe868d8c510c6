# No module named 'decimal'
from decimal import Decimal

print(sum(Decimal(price) for price in ['0.10', '0.20', '0.30']))
