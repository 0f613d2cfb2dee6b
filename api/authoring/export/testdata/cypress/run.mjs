// Opens each spec of a site in a browser and writes how it ended.
import { writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [base, ...specs] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH });
const endings = [];
for (const name of specs) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const broken = new Promise((done) => page.on('pageerror', (error) => done(`before the test: ${error.stack}`)));
  await page.goto(`${base}/standin/${name}.html`);
  const ended = page.waitForFunction(() => Boolean(window.ended), null, { timeout: 0 }).then(() => page.evaluate(() => window.ended));
  const early = Promise.race([ended, broken.then(async (text) => ((await page.evaluate(() => Boolean(window.ended))) ? ended : text)), stuck(page)]);
  endings.push({ name, error: await early.catch((error) => String(error)) });
  await context.close();
}
await browser.close();
writeFileSync('endings.json', JSON.stringify(endings));

/** Ends a spec of which nothing is heard any more. */
async function stuck(page) {
  await new Promise((done) => setTimeout(done, 120_000).unref());
  return `stuck in ${await page.evaluate(() => window.doing)}`;
}
