# callable replacement
import re


def doubled(match):
    return str(int(match.group()) * 2)


print(re.sub(r'\d+', doubled, 'a1 b22'))
