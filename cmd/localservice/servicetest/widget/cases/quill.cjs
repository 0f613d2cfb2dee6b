'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'typed': async ({ page, expect }) => {
    await page.locator('.ql-editor').click();
    await page.keyboard.type('Hello');
    await expect(log(page)).toHaveText('<p>Hello</p>');
  },
  'bold by the toolbar': async ({ page, expect }) => {
    await page.locator('.ql-editor').click();
    await page.keyboard.type('one ');
    await page.locator('.ql-bold').click();
    await page.keyboard.type('two');
    await expect(log(page)).toHaveText('<p>one <strong>two</strong></p>');
  },
  'bold by a shortcut': async ({ page, expect }) => {
    await page.locator('.ql-editor').pressSequentially('word');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+b');
    await expect(log(page)).toHaveText('<p><strong>word</strong></p>');
  },
  'list': async ({ page, expect }) => {
    await page.locator('.ql-editor').click();
    await page.keyboard.type('one');
    await page.locator('.ql-list[value=bullet]').click();
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    await expect(log(page)).toHaveText('<ul><li>one</li><li>two</li></ul>');
  },
  'heading of a menu': async ({ page, expect }) => {
    await page.locator('.ql-editor').click();
    await page.keyboard.type('Title');
    await page.locator('.ql-header .ql-picker-label').click();
    await page.locator(".ql-picker-item[data-value='1']").click();
    await expect(log(page)).toHaveText('<h1>Title</h1>');
  },
  'text replaced': async ({ page, expect }) => {
    await page.locator('.ql-editor').fill('first');
    await page.locator('.ql-editor').fill('second');
    await expect(log(page)).toHaveText('<p>second</p>');
  },
};
