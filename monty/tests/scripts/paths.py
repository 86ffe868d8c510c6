from pathlib import Path

path = Path('/in') / 'data' / 'table.tar.gz'
print(str(path), path.name, path.stem, path.suffix, str(path.parent), path.suffixes)
print(str(path.with_suffix('.txt')), path.is_absolute(), path.parts)
