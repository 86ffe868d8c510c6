# inheritance
class EmptyTable(Exception):
    pass


try:
    raise EmptyTable('no rows')
except EmptyTable as error:
    print(error)
