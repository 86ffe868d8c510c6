from datetime import date, datetime, timedelta, timezone

day = date(2024, 2, 28) + timedelta(days=2)
print(day, day.isoformat(), day.weekday(), day.strftime('%Y/%m/%d'))
moment = datetime(2024, 1, 15, 10, 30)
print(moment, moment + timedelta(hours=15), (moment - datetime(2024, 1, 1)).days)
print(timedelta(hours=1, minutes=30).total_seconds(), timedelta(days=1, seconds=5))
print(datetime(2024, 1, 15, tzinfo=timezone.utc).isoformat(), date(2024, 1, 2) > date(2024, 1, 1))
print(datetime.strptime('2024-06-15 10:30', '%Y-%m-%d %H:%M'))
