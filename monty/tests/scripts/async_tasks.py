import asyncio


async def square(n):
    return n * n


async def main():
    first = await square(3)
    both = await asyncio.gather(square(4), square(5))
    return [first, *both]


print(asyncio.run(main()))
