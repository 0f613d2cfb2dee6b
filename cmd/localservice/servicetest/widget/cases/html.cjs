'use strict';

const log = (page) => page.locator('#log');

// answer responds to the next dialog of a page.
const answer = (page, action, text) => page.once('dialog', (dialog) => dialog[action](text));

// clickAndSee is a click and what the page logs of it.
const clickAndSee = (selector, text) => async ({ page, expect }) => {
  await page.locator(selector).click();
  await expect(log(page)).toHaveText(text);
};

module.exports = {
  'button replaced every 150 ms': clickAndSee('#b', 'clicked'),
  'button drawn anew before the release': clickAndSee('#b', 'drawn, b'),
  'button that slides in': clickAndSee('#b', 'b'),
  'button moved by a script': clickAndSee('#b', 'at rest'),
  'button that never rests': clickAndSee('#b', 'b'),
  'button that pulses': clickAndSee('#b', 'b'),
  'button with a spinner': clickAndSee('#b', 'b'),
  'button in a panel that moves': clickAndSee('#b', 'at rest'),
  'button enabled late': clickAndSee('#b', 'b'),
  'button of a disabled group': clickAndSee('#b', 'b'),
  'button disabled for assistive technology': clickAndSee('#b', 'b'),
  'button behind a loading screen': clickAndSee('#b', 'b'),
  'covered button': clickAndSee('#b', 'b'),
  'invisible button': clickAndSee('#b', 'b'),
  'button that takes no pointer events': clickAndSee('#b', 'b'),
  'button that comes late': clickAndSee('#b', 'b'),
  'missing button': async ({ page }) => {
    await page.locator('#none').click();
  },
  'link over two lines': clickAndSee('#b', 'link'),
  'shapes of an image': async ({ page, expect }) => {
    await page.locator('#dot').click();
    await page.locator('#bar').click();
    await expect(log(page)).toHaveText('dot, bar');
  },
  'button below a fixed header': clickAndSee('#b', 'b'),
  'button in nested scroll areas': clickAndSee('#b', 'b'),
  'two buttons match': async ({ page }) => {
    await page.locator('button:not([style])').click();
  },
  'a hidden button counts': async ({ page }) => {
    await page.locator("//button[.='Save']").click();
  },
  'second of two': async ({ page, expect }) => {
    await page.locator('button').nth(1).click();
    await expect(log(page)).toHaveText('b');
  },
  'last that is visible': async ({ page, expect }) => {
    await page.locator('button:not([style])').last().click();
    await expect(log(page)).toHaveText('b');
  },
  'not strict': async ({ page, expect }) => {
    await page.locator('button:not([style])').click();
    await expect(log(page)).toHaveText('a');
  },
  'assertion on two elements': async ({ page, expect }) => {
    await expect(page.locator('tbody button')).toHaveText('Edit');
  },
  'count of elements': async ({ page, expect }) => {
    await expect(page.locator('tbody tr')).toHaveCount(3);
    await expect.poll(() => page.locator('tbody tr').count()).toBeGreaterThanOrEqual(2);
    await expect.poll(() => page.locator('tbody tr').count()).toBeLessThanOrEqual(3);
  },
  'wrong text': async ({ page, expect }) => {
    await expect(page.locator('#a')).toHaveText('Saved');
  },
  'name is part of another': async ({ page }) => {
    await page.getByRole('button', { name: 'Save' }).click();
  },
  'exact name': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(log(page)).toHaveText('a');
  },
  'by role': async ({ page, expect }) => {
    await page.getByRole('link', { name: 'Help' }).click();
    await page.getByRole('button', { name: 'more' }).click();
    await expect(log(page)).toHaveText('Help, More');
  },
  'by role and level': async ({ page, expect }) => {
    await expect(page.getByRole('heading', { level: 2 })).toHaveText('Items');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Shop');
  },
  'by role and state': async ({ page, expect }) => {
    await expect(page.getByRole('checkbox', { checked: true })).toHaveAttribute('id', 'news');
    await page.getByRole('button', { pressed: true }).click();
    await page.getByRole('button', { expanded: false }).click();
    await expect(log(page)).toHaveText('Like, More');
  },
  'by label': async ({ page, expect }) => {
    await page.getByLabel('e-mail').fill('a@b.c');
    await page.getByLabel('Search', { exact: true }).fill('shoes');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText('mail a@b.c, find shoes');
  },
  'by placeholder': async ({ page, expect }) => {
    await page.getByPlaceholder('example.com').fill('x');
    await expect(page.locator('#mail')).toHaveValue('x');
  },
  'by test id': async ({ page, expect }) => {
    await page.getByTestId('buy-1').click();
    await page.getByTestId('buy-2').click();
    await expect(log(page)).toHaveText('Buy, Like');
  },
  'by text': async ({ page, expect }) => {
    await page.getByText('Home').click();
    await page.getByText('check out').click();
    await expect(log(page)).toHaveText('Home, Check out');
  },
  'text of several elements': async ({ page, expect }) => {
    await expect(page.getByText('Total')).toHaveText('Total: 12 EUR');
  },
  'by alternative text and title': async ({ page, expect }) => {
    await page.getByAltText('logo').click();
    await page.getByTitle('Get help').click();
    await expect(log(page)).toHaveText('Company logo, Help');
  },
  'row by its text': async ({ page, expect }) => {
    await page.getByRole('row').filter({ hasText: 'Bob' }).getByRole('button', { name: 'Edit' }).click();
    await expect(log(page)).toHaveText('edit Bob');
  },
  'row by what it has': async ({ page, expect }) => {
    await page.locator('tr').filter({ has: page.getByText('Cyd') }).locator('button').click();
    await expect(log(page)).toHaveText('edit Cyd');
  },
  'last row': async ({ page, expect }) => {
    await page.getByRole('row').last().getByRole('button').click();
    await expect(log(page)).toHaveText('edit Cyd');
  },
  'scope of two rows': async ({ page }) => {
    await page.locator('tr').filter({ hasText: 'guest' }).locator('button').click();
  },
  'slotted content': async ({ page, expect }) => {
    await page.locator('#two b').click();
    await page.locator('#one').click();
    await expect(log(page)).toHaveText('shadow click two, shadow click one');
  },
  'slotted button by role': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'One' }).click();
    await expect(log(page)).toHaveText('shadow click one');
  },
  'nested shadow roots': async ({ page, expect }) => {
    await page.locator('x-panel .inner button').click();
    await page.getByLabel('Amount').fill('7');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText('shadow click deep, amount 7');
  },
  'shadow roots step by step': async ({ page, expect }) => {
    await page.locator('#panel').locator('.inner').locator('button').click();
    await page.locator('#panel').locator('.amount').fill('8');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText('shadow click deep, amount 8');
  },
  'button in a named slot': async ({ page, expect }) => {
    await page.locator('#foot').click();
    await expect(page.getByRole('heading', { name: 'Panel' })).toHaveText('Panel');
    await expect(log(page)).toHaveText('shadow click foot');
  },
  'frame': async ({ page, expect }) => {
    const frame = page.frameLocator('#f');
    await frame.locator('#b').click();
    await frame.locator('#i').fill('x');
    await frame.locator('#i').press('Tab');
    await expect(log(frame)).toHaveText('b, word x');
  },
  'nested frames': async ({ page, expect }) => {
    const frame = page.frameLocator('#f');
    await frame.frameLocator('#g').locator('#b').click();
    await expect(frame.locator('h3')).toHaveText('Middle');
    await expect(log(frame.frameLocator('#g'))).toHaveText('b');
  },
  'frame of another origin': async ({ page, expect }) => {
    const inner = page.frameLocator('#f').frameLocator('#g');
    await inner.getByRole('button', { name: 'Inner' }).click();
    await expect(log(inner)).toHaveText('b');
  },
  'frame that comes late': async ({ page, expect }) => {
    await page.frameLocator('#f').locator('#b').click();
    await expect(log(page.frameLocator('#f'))).toHaveText('b');
  },
  'frame that reloads': async ({ page, expect }) => {
    const frame = page.frameLocator('#f');
    await expect(frame.locator('#b')).toBeVisible();
    await frame.locator('#i').fill('word');
    await expect(frame.locator('#i')).toBeVisible();
  },
  'popup that comes late': async ({ page, expect }) => {
    await page.locator('#no').click();
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('closed, b');
  },
  'popup that does not come': async ({ page, expect }) => {
    await page.locator('#no').click({ timeout: 800 }).catch(() => {});
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('b');
  },
  'popup when it is there': async ({ page, expect }) => {
    await page.locator('#pop').waitFor({ timeout: 5000 });
    await page.locator('#no').click();
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('closed, b');
  },
  'popup when it is not there': async ({ page, expect }) => {
    const there = await page.locator('#pop').waitFor({ timeout: 500 }).then(() => true, () => false);
    if (there) await page.locator('#no').click();
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('b');
  },
  'alert': async ({ page, expect }) => {
    answer(page, 'accept');
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('after');
  },
  'alert that comes late': async ({ page, expect }) => {
    answer(page, 'accept');
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('after');
  },
  'confirm accepted': async ({ page, expect }) => {
    answer(page, 'accept');
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('deleted');
  },
  'confirm dismissed': async ({ page, expect }) => {
    answer(page, 'dismiss');
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('kept');
  },
  'prompt': async ({ page, expect }) => {
    answer(page, 'accept', 'new');
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('name new');
  },
  'leaving a page with changes': async ({ page, expect }) => {
    await page.locator('#i').fill('x');
    answer(page, 'accept');
    await page.locator('#away').click();
    await expect(page.locator('#a')).toBeVisible();
  },
  'staying on a page with changes': async ({ page, expect }) => {
    await page.locator('#i').fill('x');
    answer(page, 'dismiss');
    await page.locator('#away').click();
    await expect(log(page)).toHaveText('typed');
    await expect(page).toHaveURL(/unload/);
  },
  'reloading a page with changes': async ({ page, expect }) => {
    await page.locator('#i').click();
    await page.locator('#i').fill('x');
    answer(page, 'accept');
    await page.reload();
    await expect(page.locator('#i')).toHaveValue('');
    await expect(log(page)).toHaveText('');
  },
  'link to a new window': async ({ page, context, expect }) => {
    const opened = context.waitForEvent('page');
    await page.locator('#a').click();
    const other = await opened;
    await other.locator('#b').click();
    await expect(log(other)).toHaveText('b');
    await expect(page.locator('#a')).toBeVisible();
  },
  'window that closes itself': async ({ page, expect }) => {
    const opened = page.waitForEvent('popup');
    await page.locator('#b').click();
    const chooser = await opened;
    await expect(chooser).toHaveTitle('Chooser');
    await chooser.locator('#c').click();
    await expect(log(page)).toHaveText('message choice');
  },
  'back and forward': async ({ page, expect }) => {
    await page.locator('#n').click();
    await expect(page.locator('#b')).toBeVisible();
    await page.goBack();
    await expect(page.locator('#n')).toBeVisible();
    await page.goForward();
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('b');
  },
  'back to an unfinished navigation': async ({ page, expect }) => {
    await page.locator('#u').click({ noWaitAfter: true });
    await expect(page.locator('#here')).toHaveText('Here');
    await page.locator('#n').click();
    await expect(page.locator('#b')).toBeVisible();
    await page.goBack({ waitUntil: 'commit' });
    await expect(page.locator('#here')).toHaveText('Here');
    await expect(page).toHaveURL(/\/unfinished\//);
  },
  'back to a page that still loads': async ({ page, base, expect }) => {
    await page.goto(base + '/html.html?images', { waitUntil: 'domcontentloaded' });
    await expect(page.locator('#here')).toHaveText('Here');
    await page.locator('#n').click();
    await expect(page.locator('#b')).toBeVisible();
    await page.goBack({ waitUntil: 'domcontentloaded' });
    await expect(page.locator('#here')).toHaveText('Here');
    await expect(page).toHaveURL(/images/);
  },
  'page that comes late': async ({ page, expect }) => {
    await page.locator('#l').click();
    await page.locator('#a').click();
    await expect(log(page)).toHaveText('a');
  },
  'back in one page': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.locator('#b').click();
    await expect(page.locator('#view')).toHaveText('3');
    await page.goBack();
    await expect(page.locator('#view')).toHaveText('2');
    await page.goForward();
    await expect(page.locator('#view')).toHaveText('3');
    await expect(log(page)).toHaveText('to 2, to 3');
  },
  'reload': async ({ page, expect }) => {
    await expect(page.locator('#n')).toHaveText('1');
    await page.reload();
    await expect(page.locator('#n')).toHaveText('2');
  },
  'address and title': async ({ page, base, expect }) => {
    await expect(page).toHaveURL(/\/html\.html\?progress$/);
    await page.locator('#b').click();
    await expect(page).toHaveTitle('Done');
    await page.goto(base + '/html.html?buttons');
    await expect(page).toHaveTitle('Plain HTML');
    await expect(page.locator('#a')).toBeVisible();
  },
  'select by value': async ({ page, expect }) => {
    await page.locator('#s').selectOption('b');
    await expect(log(page)).toHaveText('input, change b');
  },
  'select by label': async ({ page, expect }) => {
    await page.getByLabel('Color').selectOption({ label: 'Orange' });
    await expect(page.locator('#s')).toHaveValue('o');
    await expect(log(page)).toHaveText('input, change o');
  },
  'select a disabled option': async ({ page }) => {
    await page.locator('#s').selectOption('v');
  },
  'select a missing option': async ({ page }) => {
    await page.locator('#s').selectOption('Green');
  },
  'select that refuses': async ({ page, expect }) => {
    await page.locator('#s').selectOption('Two');
    await expect(page.locator('#s')).toHaveValue('Two');
  },
  'options that come late': async ({ page, expect }) => {
    await page.locator('#s').selectOption('Rome');
    await expect(log(page)).toHaveText('Rome');
  },
  'scripted listbox': async ({ page, expect }) => {
    await page.getByRole('combobox', { name: 'Size' }).click();
    await page.getByRole('option', { name: 'Size 4' }).click();
    await expect(log(page)).toHaveText('Size 4');
    await expect(page.locator('#s')).toHaveText('Size 4');
  },
  'upload': async ({ page, expect }) => {
    await page.locator('#f').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('content') });
    await expect(log(page)).toHaveText('a.txt: content');
  },
  'upload to a hidden input': async ({ page, expect }) => {
    await page.locator('#f').setInputFiles({ name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('more') });
    await expect(log(page)).toHaveText('b.txt: more');
  },
  'fields': async ({ page, expect }) => {
    const values = { text: 'new', date: '2030-01-17', range: '7', color: '#ff0000', number: '42', area: 'two\nlines' };
    for (const [id, value] of Object.entries(values)) await page.locator('#' + id).fill(value);
    await page.locator('#rich').fill('new text');
    for (const [id, value] of Object.entries(values)) await expect(page.locator('#' + id)).toHaveValue(value);
    await expect(page.locator('#rich')).toHaveAttribute('data-seen', 'new text');
  },
  'read-only field': async ({ page }) => {
    await page.locator('#locked').fill('x');
  },
  'masked field': async ({ page, expect }) => {
    await page.locator('#phone').fill('123456789');
    await expect(page.locator('#phone')).toHaveValue('123-456-789');
  },
  'keys one by one': async ({ page, expect }) => {
    await page.locator('#i').focus();
    await page.keyboard.press('End');
    await page.keyboard.type('cd');
    await expect(log(page)).toHaveText('down c, up c, down d, up d');
    await expect(page.locator('#i')).toHaveValue('abcd');
  },
  'shortcuts': async ({ page, expect }) => {
    await page.locator('#i').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await expect(page.locator('#i')).toHaveValue('');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Tab');
    await expect(log(page)).toHaveText('palette, focused');
  },
  'form sent by Enter': async ({ page, expect }) => {
    await page.getByLabel('Name').fill('Ada');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText('sent Ada');
  },
  'form that is not complete': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(log(page)).toContainText('sent');
  },
  'double click': async ({ page, expect }) => {
    await page.locator('#p').dblclick();
    await expect(log(page)).toHaveText('click 1, click 2, dblclick 2');
  },
  'context menu': async ({ page, expect }) => {
    await page.locator('#p').click({ button: 'right' });
    await page.locator('#open').click();
    await expect(log(page)).toHaveText('menu 2, open');
  },
  'menu that opens under the pointer': async ({ page, expect }) => {
    await page.locator('#m').hover();
    await page.locator('#sub').hover();
    await page.locator('#deep').click();
    await expect(log(page)).toHaveText('deep');
  },
  'native drag': async ({ page, expect }) => {
    await page.locator('#box').dragTo(page.locator('#bin'));
    await expect(log(page)).toContainText('start, drop box');
  },
  'native drag that nothing takes': async ({ page, expect }) => {
    await page.locator('#box').dragTo(page.locator('#wall'));
    await expect(log(page)).toContainText('drop');
  },
  'drag by pointer events': async ({ page, expect }) => {
    await page.locator('#box').dragTo(page.locator('#bin'));
    await expect(log(page)).toHaveText('down, in the bin');
  },
  'infinite scroll': async ({ page, expect }) => {
    const bottom = () => page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await bottom();
    await expect.poll(() => page.locator('#feed p').count()).toBeGreaterThanOrEqual(40);
    await bottom();
    await expect(page.locator("//p[.='Item 60']")).toBeVisible();
  },
  'scroll an element down': async ({ page, expect }) => {
    await page.locator('#list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await expect(log(page)).toHaveText('end left');
  },
  'scroll an element to the right': async ({ page, expect }) => {
    await page.locator('#list').hover();
    for (let i = 0; i < 4; i++) await page.mouse.wheel(300, 0);
    await expect(log(page)).toContainText('top right');
  },
  'scroll that moves nothing': async ({ page }) => {
    const list = page.locator('#list');
    const top = () => list.evaluate((el) => el.scrollTop);
    const before = await top();
    await list.hover();
    await page.mouse.wheel(0, 100);
    if (await top() === before) throw new Error('the list did not scroll');
  },
  'list that scrolls itself': async ({ page, expect }) => {
    await page.locator('#list').hover();
    await page.mouse.wheel(0, 180);
    await expect(log(page)).toHaveText('scrolled');
  },
  '100,000 elements': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Go' }).click();
    await expect(log(page)).toHaveText('b');
  },
  'page that is busy for two seconds': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.locator('#c').click();
    await expect(log(page)).toHaveText('worked, c');
  },
  'toast': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.getByRole('status').filter({ hasText: 'Saved' })).toHaveText('Saved');
    await expect(log(page)).toHaveText('gone');
  },
  'small window': async ({ page, expect }) => {
    await page.setViewportSize({ width: 500, height: 800 });
    await page.locator('#burger').click();
    await page.locator('#home').click();
    await expect(log(page)).toHaveText('opened, home');
  },
  'details': async ({ page, expect }) => {
    await page.locator('summary').click();
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('toggled, b');
  },
  'modal dialog element': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(log(page)).toHaveText('ok');
    await expect(page.locator('#dialog')).toBeHidden();
  },
  'button behind a modal dialog element': async ({ page }) => {
    await page.locator('#b').click();
    await page.locator('#behind').click();
  },
  'popover': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.locator('#c').click();
    await expect(log(page)).toHaveText('c');
  },
  'switch by its label': async ({ page, expect }) => {
    await page.getByText('Wi-Fi').click();
    await expect(page.locator('#s')).toBeChecked();
    await expect(log(page)).toHaveText('on');
  },
  'state that changes': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.locator('#state')).toHaveText('Loaded 7 items');
    await expect(page.locator('#state')).toHaveAttribute('class', 'done');
    await expect(page.locator('#state')).toHaveAttribute('data-percent', /^1\d\d$/);
  },
  'negated assertions': async ({ page, expect }) => {
    await expect(page.locator('#state')).not.toContainText('Loaded');
    await expect(page.locator('#b')).toBeEnabled();
    await expect(page.locator('#none')).not.toBeVisible();
    await expect(page.locator('#none')).toBeHidden();
  },
};
