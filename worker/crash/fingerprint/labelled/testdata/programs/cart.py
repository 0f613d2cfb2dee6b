"""Fails in the way its argument names, and prints the frames as the client does."""
import functools
import sys
import threading


def hook(kind, value, trace):
    frames = []
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_name, trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    print("class", kind.__name__, file=sys.stderr)
    print("message", value, file=sys.stderr)
    for name, path, line in reversed(frames):
        print(f"frame {name}|{path}|{line}", file=sys.stderr)


def logged(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


class Cart:
    def __init__(self, prices):
        self.prices = prices

    def price(self, key):
        return self.prices[key]

    def total(self, keys):
        return sum(self.price(k) for k in keys)

    def listed(self, keys):
        return [self.price(k) for k in keys]

    def mean(self, keys, n):
        return self.total(keys) / n


def service(cart, keys):
    return cart.total(keys)


def summary(cart, keys):
    return service(cart, keys)


def show(cart):
    return summary(cart, ["apple"])


@logged
def bill(cart):
    return summary(cart, ["pear"])


def fail(message):
    raise Exception(message)


def main(how):
    cart = Cart({"plum": 2})
    if how == "show":
        show(cart)
    elif how == "bill":
        bill(cart)
    elif how == "listed":
        cart.listed(["fig"])
    elif how == "zero":
        cart.mean(["plum"], 0)
    elif how == "type":
        cart.mean(["plum"], "two")
    elif how == "paper":
        fail("printer 3 has no paper")
    elif how == "paper again":
        fail("printer 12 has no paper")
    elif how == "card":
        fail("the card was refused")
    elif how == "thread":
        threading.excepthook = lambda a: hook(a.exc_type, a.exc_value, a.exc_traceback)
        t = threading.Thread(target=show, args=(cart,))
        t.start()
        t.join()


sys.excepthook = hook
main(sys.argv[1])
