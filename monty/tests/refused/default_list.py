# cannot import name 'field'
from dataclasses import dataclass, field


@dataclass
class Basket:
    owner: str
    items: list = field(default_factory=list)


basket = Basket('ann')
basket.items.append('apple')
print(basket)
