// The cases on widget libraries with Playwright, the baseline of `bench widgets`. A
// line comes in on standard input for each case, {library, name, page, timeout}, and
// one goes out: {status, message, ms}. The functions of the cases are in the files
// LIBRARY.cjs beside this one.
'use strict';
const { chromium } = require('playwright-core');
const { expect } = require('@playwright/test');
const path = require('node:path');
const readline = require('node:readline');
const [base, executablePath] = process.argv.slice(2);

// CASE_LIMIT ends a case that none of its timeouts ends.
const CASE_LIMIT = 90_000;

function limit(promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('the case does not end')), CASE_LIMIT); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function run(browser, { library, name, page: address, timeout }) {
  const test = require(path.join(__dirname, `${library}.cjs`))[name];
  if (!test) return { status: 'ERROR', message: `${library}.cjs has no function for this case` };
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(timeout);
  try {
    const page = await context.newPage();
    await page.goto(base + address, { waitUntil: 'domcontentloaded' });
    await limit(test({ page, context, base, expect: expect.configure({ timeout }) }));
    return { status: 'PASSED' };
  } catch (error) {
    return { status: 'FAILED', message: String(error.message).replace(/\u001b\[\d+m/g, '') };
  } finally {
    await context.close();
  }
}

async function main() {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const start = process.hrtime.bigint();
    const result = await run(browser, JSON.parse(line));
    result.ms = Number(process.hrtime.bigint() - start) / 1e6;
    console.log(JSON.stringify(result));
  }
  await browser.close();
}

main().catch((error) => { console.error(error); process.exit(1); });
