'use strict';

const log = (page) => page.locator('#log');
const open = (page) => page.locator('#root .ant-select').click();

module.exports = {
  'select': async ({ page, expect }) => {
    await open(page);
    await page.getByTitle('Name 3', { exact: true }).click();
    await expect(log(page)).toHaveText('v3');
  },
  'list with its own scrolling': async ({ page, expect }) => {
    await open(page);
    await page.locator(".ant-select-dropdown [class$='-holder']").hover();
    await page.mouse.wheel(0, 100_000);
    await page.getByTitle('Name 1000').click();
    await expect(log(page)).toHaveText('v1000');
  },
  'select with a search': async ({ page, expect }) => {
    await open(page);
    await page.getByRole('combobox').pressSequentially('Name 777');
    await page.getByTitle('Name 777').click();
    await expect(log(page)).toHaveText('v777');
  },
  'select of several': async ({ page, expect }) => {
    await open(page);
    await page.getByTitle('Name 2').click();
    await page.getByTitle('Name 4').click();
    await expect(log(page)).toHaveText('v2, v2+v4');
    await expect(page.locator('.ant-select-selection-item')).toHaveCount(2);
  },
  'date picker': async ({ page, expect }) => {
    await page.locator('#d').click();
    await page.locator("td[title='2030-01-17']").click();
    await expect(log(page)).toHaveText('2030-01-17');
    await expect(page.locator('#d')).toHaveValue('2030-01-17');
  },
  'date picker, next month': async ({ page, expect }) => {
    await page.locator('#d').click();
    await page.locator('.ant-picker-header-next-btn').click();
    await page.locator("td[title='2030-02-03']").click();
    await expect(log(page)).toHaveText('2030-02-03');
  },
  'date typed': async ({ page, expect }) => {
    await page.locator('#d').fill('2031-05-06');
    await page.locator('#d').press('Enter');
    await expect(log(page)).toHaveText('2031-05-06');
  },
  'range of dates': async ({ page, expect }) => {
    await page.locator('#from').click();
    await page.locator("td[title='2030-01-10']").click();
    await page.locator("td[title='2030-01-20']").click();
    await expect(log(page)).toHaveText('2030-01-10 to 2030-01-20');
  },
  'animated modal': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(log(page)).toHaveText('ok, closed');
  },
  'modal cancelled by Escape': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.locator('.ant-modal-body').click();
    await page.keyboard.press('Escape');
    await expect(log(page)).toHaveText('cancel, closed');
  },
  'button behind a modal': async ({ page, expect }) => {
    await page.locator('#open').click();
    await expect(page.getByRole('button', { name: 'OK' })).toBeVisible();
    await page.locator('#behind').click();
  },
  'confirmation': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(log(page)).toHaveText('deleted');
  },
  'drawer': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.getByRole('button', { name: 'Buy now' }).click();
    await expect(log(page)).toHaveText('buy');
  },
  'tree': async ({ page, expect }) => {
    await page.locator('.ant-tree-switcher_close').click();
    await page.locator('.ant-tree-treenode').filter({ hasText: 'Elm' }).locator('.ant-tree-checkbox').click();
    await page.getByText('Oak').click();
    await expect(log(page)).toHaveText('checked elm, selected oak');
  },
  'tree in a select': async ({ page, expect }) => {
    await open(page);
    await page.locator('.ant-select-tree-switcher_close').click();
    await page.getByTitle('Oak').click();
    await expect(log(page)).toHaveText('oak');
  },
  'cascader': async ({ page, expect }) => {
    await open(page);
    await page.getByTitle('Germany').click();
    await page.getByTitle('Hamburg').click();
    await expect(log(page)).toHaveText('de/hh');
  },
  'tab': async ({ page, expect }) => {
    await page.getByRole('tab', { name: 'Two' }).click();
    await page.locator('#inner').click();
    await expect(log(page)).toHaveText('tab 2, inner');
  },
  'slider by keys': async ({ page, expect }) => {
    await page.getByRole('slider').press('ArrowRight');
    await page.getByRole('slider').press('End');
    await expect(log(page)).toHaveText('31, 100');
  },
  'slider by its handle': async ({ page, expect }) => {
    await page.locator('.ant-slider').click();
    await expect(log(page)).toHaveText('50');
  },
  'table sorted': async ({ page, expect }) => {
    await page.getByRole('columnheader', { name: 'Age' }).click();
    await expect(page.getByRole('columnheader', { name: 'Age' })).toHaveAttribute('aria-sort', 'ascending');
    await expect(page.locator('tbody tr.ant-table-row')).toHaveCount(10);
  },
  'second page of a table': async ({ page, expect }) => {
    await page.getByTitle('2', { exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Name 15' }).locator('input').click();
    await expect(log(page)).toHaveText('rows 15');
  },
  'virtual table': async ({ page, expect }) => {
    await page.locator('.ant-table-tbody-virtual-holder').hover();
    await page.mouse.wheel(0, 1_000_000);
    await page.getByText('Row 2000', { exact: true }).click();
    await expect(log(page)).toHaveText('Row 2000');
  },
  'switch, checkbox, radio, stars': async ({ page, expect }) => {
    await page.locator('#sw').click();
    await page.getByRole('checkbox', { name: 'Agree' }).click();
    await page.getByText('Large').click();
    await page.locator('.ant-rate-star').nth(3).click();
    await expect(log(page)).toHaveText('switch true, box true, radio Large, stars 4');
  },
  'number': async ({ page, expect }) => {
    await page.locator('#n').hover();
    await page.locator('#n').press('ArrowUp');
    await page.locator('#n').fill('8');
    await expect(log(page)).toHaveText('4, 8');
  },
  'autocomplete': async ({ page, expect }) => {
    await page.locator('#a').pressSequentially('shop');
    await page.getByTitle('shop.org').click();
    await expect(log(page)).toHaveText('shop.org');
  },
  'form with validation': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(page.getByText('Give a mail address')).toBeVisible();
    await page.getByLabel('Mail').fill('a@b.c');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(log(page)).toHaveText('invalid, sent a@b.c');
  },
  'message that goes': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.getByText('Saved well')).toBeVisible();
    await expect(log(page)).toHaveText('gone');
  },
  'upload': async ({ page, expect }) => {
    await page.locator('input[type=file]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('content') });
    await expect(log(page)).toHaveText('a.txt content');
    await expect(page.locator('.ant-upload-list').getByText('a.txt')).toBeVisible();
  },
  'collapse': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Part one' }).click();
    await page.locator('#inner').click();
    await expect(log(page)).toHaveText('inner');
  },
  'button while loading': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('clicked');
  },
};
