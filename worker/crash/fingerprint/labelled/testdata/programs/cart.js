// Fails in the way its argument names; the stack is printed as V8 writes it.
'use strict';

class Cart {
  constructor(rows) {
    this.rows = rows;
  }
  static load(rows) {
    return new Cart(rows.map((r) => ({ price: r.price })));
  }
  price(i) {
    return this.rows[i].price;
  }
  total(keys) {
    let sum = 0;
    for (const k of keys) sum += this.price(k);
    return sum;
  }
}

const service = (cart, keys) => cart.total(keys);
function summary(cart, keys) {
  return service(cart, keys);
}
function show(cart) {
  return summary(cart, [7]);
}
async function bill(cart) {
  await null;
  return summary(cart, [9]);
}
function fail(message) {
  throw new Error(message);
}

process.on('uncaughtException', (e) => print(e));
process.on('unhandledRejection', (e) => print(e));
function print(e) {
  process.stderr.write(`class ${e.name}\nmessage ${e.message}\n${e.stack}\n`);
  process.exit(3);
}

const cart = Cart.load([{ price: 1 }]);
switch (process.argv[2]) {
  case 'show':
    show(cart);
    break;
  case 'bill':
    bill(cart);
    break;
  case 'timer':
    setTimeout(() => show(cart), 1);
    break;
  case 'load':
    Cart.load([null]);
    break;
  case 'paper':
    fail('printer 3 has no paper');
    break;
  case 'paper again':
    fail('printer 12 has no paper');
    break;
  case 'card':
    fail('the card was refused');
    break;
}
