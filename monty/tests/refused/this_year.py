# 'datetime.now' is not supported
from datetime import datetime, timezone

print(datetime.now(timezone.utc).year > 2000)
