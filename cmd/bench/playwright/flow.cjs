// The flow of the shop with Playwright, the baseline of `bench run`. Lines come in
// on standard input, an answer goes out for each:
//   flow            one flow in a warm browser, in a new context: milliseconds
//   shots           the same with a screenshot after each step: milliseconds
//   trace           the same with Playwright's trace, written to a file: milliseconds
//   cases W N       N flows by W workers with a browser each: milliseconds
'use strict';
const { chromium } = require('playwright-core');
const readline = require('node:readline');
const path = require('node:path');
const [base, executablePath] = process.argv.slice(2);

const launch = () => chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});

async function text(page, selector, wanted) {
  await page.locator(selector, { hasText: new RegExp(`^${wanted}$`) }).waitFor();
}

// step does a step of the flow, and takes a screenshot after it where that is wanted:
// in the format and size of Slipway's. The browser refuses one while a click's page
// replaces the former one; Playwright does not try again.
async function step(page, shots, action) {
  await action;
  for (let taken = !shots; !taken;) {
    try {
      await page.screenshot({ type: 'jpeg', quality: 70, scale: 'css' });
      taken = true;
    } catch (error) {
      if (!/Unable to capture screenshot/.test(error.message)) throw error;
    }
  }
}

async function flow(browser, shots, traced) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  if (traced) await context.tracing.start({ screenshots: true, snapshots: true });
  const page = await context.newPage();
  await step(page, shots, page.goto(base + '/', { waitUntil: 'domcontentloaded' }));
  await step(page, shots, page.fill('#user', 'shopper'));
  await step(page, shots, page.fill('#password', 'correct horse'));
  await step(page, shots, page.click('#login'));
  await step(page, shots, text(page, 'h1', 'Products'));
  await step(page, shots, page.click('#add-3'));
  await step(page, shots, page.click('#cart'));
  await step(page, shots, text(page, 'h1', 'Cart'));
  if (traced) await context.tracing.stop({ path: path.join(__dirname, 'trace.zip') });
  await context.close();
}

async function main() {
  const warm = await launch();
  const workers = [];
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [what, w, n] = line.split(' ');
    const start = process.hrtime.bigint();
    if (what === 'flow' || what === 'shots' || what === 'trace') {
      await flow(warm, what === 'shots', what === 'trace');
    } else {
      while (workers.length < Number(w)) workers.push(await launch());
      const began = process.hrtime.bigint();
      let left = Number(n);
      await Promise.all(workers.map(async browser => { while (left-- > 0) await flow(browser, false); }));
      console.log(Number(process.hrtime.bigint() - began) / 1e6);
      continue;
    }
    console.log(Number(process.hrtime.bigint() - start) / 1e6);
  }
  await Promise.all([warm, ...workers].map(b => b.close()));
}

main().catch(error => { console.error(error); process.exit(1); });
