class Account:
    """An account."""

    currency = 'EUR'

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError('not positive')
        self.balance += amount
        return self

    def __repr__(self):
        return f'Account({self.owner!r}, {self.balance})'


account = Account('ann').deposit(5).deposit(7)
print(account, account.balance, account.currency, Account.__doc__, isinstance(account, Account))
try:
    account.deposit(-1)
except ValueError as error:
    print('refused:', error)
print([Account('bob', n) for n in range(2)], hasattr(account, 'owner'), getattr(account, 'x', None))
