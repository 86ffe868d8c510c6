from dataclasses import dataclass


@dataclass
class Reading:
    place: str
    value: float
    unit: str = 'C'


readings = [Reading('attic', 21.5), Reading('cellar', 12.0, 'F')]
print(readings)
print(readings[0] == Reading('attic', 21.5), readings[0] == readings[1])
print(max(reading.value for reading in readings), readings[1].unit)
readings[0].value += 1
print(readings[0])
