'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'select': async ({ page, expect }) => {
    await page.locator('.el-select').click();
    await page.getByRole('option', { name: 'Name 3' }).click();
    await expect(log(page)).toHaveText('3');
  },
  'filtered list of a thousand': async ({ page, expect }) => {
    await page.locator('.el-select').click();
    await page.getByRole('combobox').pressSequentially('Name 777');
    await page.getByRole('option', { name: 'Name 777' }).click();
    await expect(log(page)).toHaveText('777');
  },
  'list with its own scrolling': async ({ page, expect }) => {
    await page.locator('.el-select').click();
    await page.locator('.el-select-dropdown__list').hover();
    await page.mouse.wheel(0, 100_000);
    await page.getByText('Name 1000').click();
    await expect(log(page)).toHaveText('1000');
  },
  'date picker': async ({ page, expect }) => {
    await page.getByRole('combobox').click();
    await page.locator('td.available:not(.prev-month)').filter({ hasText: '17' }).click();
    await expect(log(page)).toHaveText('2030-01-17');
  },
  'animated dialog': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.locator('#ok').click();
    await expect(log(page)).toHaveText('ok, closed');
  },
  'button behind a dialog': async ({ page, expect }) => {
    await page.locator('#open').click();
    await expect(page.locator('#ok')).toBeVisible();
    await page.locator('#behind').click();
  },
  'message box': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await expect(log(page)).toHaveText('yes');
  },
  'message box closed by Escape': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.getByRole('button', { name: 'No' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(log(page)).toHaveText('no');
  },
  'notification': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.getByText('All is well')).toBeVisible();
    await expect(log(page)).toHaveText('gone');
  },
  'tree with checkboxes': async ({ page, expect }) => {
    await page.getByText('Plants').click();
    await page.locator('.el-tree-node .el-tree-node').filter({ hasText: 'Elm' }).locator('.el-checkbox').click();
    await expect(log(page)).toHaveText('Elm');
  },
  'table sorted': async ({ page, expect }) => {
    await page.getByRole('columnheader', { name: 'Age' }).click();
    await expect(page.locator('tbody tr td:first-child').nth(0)).toHaveText('Name 5');
    await page.getByText('Name 2').click();
    await expect(log(page)).toHaveText('Name 2');
  },
  'slider by keys': async ({ page, expect }) => {
    await page.getByRole('slider').press('ArrowRight');
    await expect(log(page)).toHaveText('31');
  },
  'cascader': async ({ page, expect }) => {
    await page.locator('.el-cascader').click();
    await page.getByText('Germany').click();
    await page.getByText('Berlin').click();
    await expect(log(page)).toHaveText('de/b');
  },
  'menu that opens by hovering': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Hover' }).hover();
    await page.getByRole('menuitem', { name: 'Paste' }).click();
    await expect(log(page)).toHaveText('paste');
  },
  'infinite scroll': async ({ page, expect }) => {
    const bottom = () => page.locator('#feed').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await bottom();
    await expect.poll(() => page.locator('#feed li').count()).toBeGreaterThanOrEqual(20);
    await bottom();
    await expect(page.locator('#feed li')).toHaveCount(30);
    await page.getByText('Item 30', { exact: true }).click();
    await expect(log(page)).toHaveText('item 30');
  },
  'number to its end': async ({ page, expect }) => {
    await page.locator('.el-input-number__increase').click();
    await expect(page.locator('.el-input-number__increase')).toHaveClass(/is-disabled/);
    await expect(log(page)).toHaveText('4');
  },
  'switch and checkbox': async ({ page, expect }) => {
    await page.locator('.el-switch').click();
    await page.getByText('Agree').click();
    await expect(log(page)).toHaveText('true, true');
  },
};
