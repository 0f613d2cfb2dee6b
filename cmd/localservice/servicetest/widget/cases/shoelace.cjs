'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'button by its host': async ({ page, expect }) => {
    await page.locator('#a').click();
    await expect(log(page)).toHaveText('a');
  },
  'button by role': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(log(page)).toHaveText('a');
  },
  'slotted content': async ({ page, expect }) => {
    await page.locator('#c b').click();
    await page.getByText('Bold').click();
    await expect(log(page)).toHaveText('c, c');
  },
  'disabled button': async ({ page }) => {
    await page.getByRole('button', { name: 'Delete' }).click();
  },
  'field by its label': async ({ page, expect }) => {
    await page.getByLabel('Name').fill('Ada');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText('name Ada');
    await expect(page.locator('#i input')).toHaveValue('Ada');
  },
  'field cleared': async ({ page, expect }) => {
    await page.locator('#i input').fill('Ada');
    await page.locator('#i [part=clear-button]').click();
    await expect(log(page)).toContainText('cleared');
  },
  'text area': async ({ page, expect }) => {
    await page.getByLabel('Note').fill('two\nlines');
    await page.keyboard.press('Tab');
    await expect(log(page)).toHaveText('note two lines');
  },
  'select': async ({ page, expect }) => {
    await page.getByRole('combobox', { name: 'Fruit' }).click();
    await page.getByRole('option', { name: 'Pear' }).click();
    await expect(log(page)).toHaveText('pear');
  },
  'select by keys': async ({ page, expect }) => {
    await page.locator('#s').click();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText(/.+/);
  },
  'select of several': async ({ page, expect }) => {
    await page.locator('#s').click();
    await page.locator('sl-option[value=apple]').click();
    await page.locator('sl-option[value=plum]').click();
    await expect(log(page)).toHaveText('apple, apple+plum');
  },
  'animated dialog': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(log(page)).toHaveText('ok, hidden');
  },
  'dialog closed by its cross': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.getByRole('button', { name: 'Close' }).click();
    await expect(log(page)).toHaveText('hidden');
    await expect(page.getByRole('dialog')).toBeHidden();
  },
  'drawer': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.locator('#buy').click();
    await expect(log(page)).toHaveText('buy');
  },
  'tab': async ({ page, expect }) => {
    await page.getByRole('tab', { name: 'Two' }).click();
    await page.locator('#inner').click();
    await expect(log(page)).toHaveText('inner');
  },
  'tree': async ({ page, expect }) => {
    await page.locator('sl-tree > sl-tree-item:first-child').locator('[part=expand-button]').first().click();
    await page.locator('sl-tree-item sl-tree-item').filter({ hasText: 'Trees' }).first().locator('[part=expand-button]').first().click();
    await page.locator('#oak').click();
    await expect(log(page)).toHaveText('oak');
  },
  'checkbox and switch': async ({ page, expect }) => {
    await page.getByText('Agree').click();
    await page.locator('#s').click();
    await expect(log(page)).toHaveText('agree true, wifi true');
    await expect(page.getByRole('checkbox', { name: 'Agree' })).toBeChecked();
  },
  'radio': async ({ page, expect }) => {
    await page.getByText('Large').click();
    await expect(log(page)).toHaveText('l');
  },
  'menu with a submenu': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.locator('sl-menu-item[value=find]').hover();
    await page.locator('sl-menu-item[value=next]').click();
    await expect(log(page)).toHaveText('next');
  },
  'details': async ({ page, expect }) => {
    await page.getByText('More').click();
    await page.locator('#inner').click();
    await expect(log(page)).toContainText('inner');
  },
  'range by keys': async ({ page, expect }) => {
    await page.getByLabel('Volume').press('ArrowRight');
    await expect(log(page)).toHaveText('6');
  },
  'rating': async ({ page, expect }) => {
    await page.locator('#r [part=base]').click();
    await expect(log(page)).toHaveText('stars 3');
  },
  'alert': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.getByText('Mind the gap')).toBeVisible();
    await page.locator('#a [part=close-button]').click();
    await expect(log(page)).toHaveText('hidden');
  },
  'tooltip': async ({ page, expect }) => {
    await page.locator('#b').hover();
    await expect(page.locator('sl-tooltip [part=body]')).toBeVisible();
    await expect(log(page)).toHaveText('over');
  },
};
