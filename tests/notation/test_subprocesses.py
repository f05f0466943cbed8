"""Work in processes of limited memory and CPU time: what one item does to its process harms no
other item.
"""

import os
import time


def work(item):
    match item:
        case "loops":
            while True:
                pass
        case "grows":
            return str(len(bytearray(1 << 40)))
        case "ends":
            os._exit(3)
        case "sleeps":
            time.sleep(1_000)
        case "raises":
            raise KeyError(item)
    return item.upper()
