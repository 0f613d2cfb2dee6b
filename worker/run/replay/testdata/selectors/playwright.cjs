// Answers selectors with Playwright: the page of the first argument is opened in the
// browser of the second, its elements are numbered, and for each selector of the list
// on standard input the numbers of what it finds are written, or the error.
'use strict';
const { chromium } = require('playwright-core');
const [executablePath] = process.argv.slice(2);

// whole is the name of a role as a whole. Slipway takes a name as a part only where no
// element has it as a whole; Playwright takes both.
const whole = (name) => new RegExp('^' + name.trim().replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replace(/\s+/g, ' ') + '$', 'i');

async function locator(scope, s) {
  if (s.within) scope = await locator(scope, s.within);
  const exact = Boolean(s.exact);
  let found;
  switch (s.type) {
    case 'css': found = scope.locator('css=' + s.value); break;
    case 'xpath': found = scope.locator('xpath=' + s.value); break;
    case 'role': {
      const options = { ...s.state };
      if (s.name !== undefined) Object.assign(options, { name: s.name, exact });
      if (s.level) options.level = s.level;
      found = scope.getByRole(s.value, options);
      if (s.name !== undefined && !exact) {
        const only = scope.getByRole(s.value, { ...options, name: whole(s.name) });
        if (await only.count() > 0) found = only;
      }
      break;
    }
    case 'text': found = scope.getByText(s.value, { exact }); break;
    case 'label': found = scope.getByLabel(s.value, { exact }); break;
    case 'placeholder': found = scope.getByPlaceholder(s.value, { exact }); break;
    case 'altText': found = scope.getByAltText(s.value, { exact }); break;
    case 'title': found = scope.getByTitle(s.value, { exact }); break;
    case 'testId': found = scope.locator(['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa']
      .map(name => `[${name}=${JSON.stringify(s.value)}]`).join(', ')); break;
    default: throw new Error('unknown type ' + s.type);
  }
  if (s.has) found = found.filter({ has: await locator(scope.page ? scope.page() : scope, s.has) });
  if (s.hasText) found = found.filter({ hasText: s.hasText });
  return s.index === undefined ? found : found.nth(s.index);
}

async function main() {
  let input = '';
  for await (const part of process.stdin) input += part;
  const { pages, number } = JSON.parse(input);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const answers = [];
  for (const { url, selectors } of pages) {
    await page.goto(url);
    await page.evaluate(number);
    const all = [];
    for (const s of selectors) {
      try {
        all.push({ found: await (await locator(page, s)).evaluateAll(list => list.map(el => Number(el.getAttribute('data-n')))) });
      } catch (e) {
        all.push({ error: String(e.message).split('\n')[0] });
      }
    }
    answers.push(all);
  }
  await browser.close();
  console.log(JSON.stringify(answers));
}

main().catch(error => { console.error(error); process.exit(1); });
