// Sends one report with the real client, as an application would:
//
//	node send.cjs MODULES URL CLASS [ATTACHMENT]
//
// MODULES is the folder with the client's packages. It prints what the client
// made of the answer and ends with 0 when that is success.
'use strict';
const path = require('path');
const [modules, url, kind, file] = process.argv.slice(2);
const { BacktraceClient, BacktraceFileAttachment } = require(require.resolve('@backtrace/node', { paths: [path.dirname(modules)] }));

// Whatever the client throws outside of its promise ends the process with 1,
// as it would end the application.
const client = BacktraceClient.initialize({
  url,
  userAttributes: { 'application.version': '4.2.0', shop: 'north', seats: 3, paid: true },
  rateLimit: 0,
  captureUnhandledErrors: false,
  // The client attaches its breadcrumbs by itself; without them and without a
  // file it sends plain JSON.
  breadcrumbs: { enable: Boolean(file) },
});

function checkout(cart) {
  return cart.items.length;
}

function submitOrder() {
  return checkout({});
}

async function main() {
  let caught;
  try {
    submitOrder();
  } catch (error) {
    caught = error;
  }
  caught.name = kind;
  const result = await client.send(caught, { order: 'o-17' }, file ? [new BacktraceFileAttachment(file)] : []);
  console.log(JSON.stringify(result));
  client.dispose();
  process.exitCode = result.status === 'Ok' ? 0 : 3;
}

main();
