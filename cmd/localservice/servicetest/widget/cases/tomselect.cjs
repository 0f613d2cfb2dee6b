'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'single': async ({ page, expect }) => {
    await page.locator('.ts-control').click();
    await page.locator('.ts-dropdown').getByRole('option', { name: 'Name 7', exact: true }).click();
    await expect(log(page)).toHaveText('v7');
  },
  'search': async ({ page, expect }) => {
    await page.locator('.ts-control').click();
    await page.keyboard.type('name 33');
    await page.locator('.ts-dropdown').getByRole('option', { name: 'Name 33' }).click();
    await expect(log(page)).toHaveText('v33');
    await expect(page.locator('.ts-control .item')).toHaveText('Name 33');
  },
  'chosen by keys': async ({ page, expect }) => {
    await page.locator('.ts-control').click();
    await page.keyboard.type('Name 12');
    await expect(page.locator('.option.active')).toHaveText('Name 12');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText('v12');
  },
  'one removed': async ({ page, expect }) => {
    await page.locator('.ts-control').click();
    await page.locator('.ts-dropdown').getByRole('option', { name: 'Name 9' }).click();
    await page.locator('.item .remove').click();
    await expect(log(page)).toHaveText('v9, ');
    await expect(page.locator('.ts-control .item')).toHaveCount(0);
  },
  'new words': async ({ page, expect }) => {
    await page.locator('.ts-control').click();
    await page.keyboard.type('red');
    await page.keyboard.press('Enter');
    await page.keyboard.type('blue');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText('red, red,blue');
  },
};
