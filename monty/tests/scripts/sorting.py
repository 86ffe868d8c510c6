people = [('ann', 31), ('bob', 27), ('cid', 31), ('dan', 19)]
print(sorted(people, key=lambda person: person[1]))
print(sorted(people, key=lambda person: (-person[1], person[0])))
people.sort(key=lambda person: person[0], reverse=True)
print(people, min(people, key=lambda person: person[1]), sorted('banana'), sorted([3, 1], reverse=True))
