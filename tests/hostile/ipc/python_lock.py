# attack: locks of Python between processes of its own, which are allowed
# expect: ok
# stdout: held
# elsewhere: no

import multiprocessing

with multiprocessing.Lock():
    with multiprocessing.Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    print("held")
