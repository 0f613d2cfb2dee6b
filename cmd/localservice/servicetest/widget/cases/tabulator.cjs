'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'far row of a virtual table': async ({ page, expect }) => {
    await page.locator('.tabulator-tableholder').evaluate((holder) => holder.scrollTo(0, holder.scrollHeight));
    await page.getByText('Name 2000', { exact: true }).click();
    await expect(log(page)).toHaveText('Name 2000');
  },
  'sorted': async ({ page, expect }) => {
    await page.getByRole('columnheader', { name: 'Age' }).click();
    await expect(page.getByRole('columnheader', { name: 'Age' })).toHaveAttribute('aria-sort', 'ascending');
    await expect(page.locator('.tabulator-cell[tabulator-field=age]').first()).toHaveText('0');
  },
  'cell edited': async ({ page, expect }) => {
    await page.getByText('Name 3').dblclick();
    await page.locator('.tabulator-cell input').fill('Zoe');
    await page.locator('.tabulator-cell input').press('Enter');
    await expect(log(page)).toContainText('edited Zoe');
    await expect(page.locator('.tabulator-row').nth(2)).toContainText('Zoe');
  },
  'filtered': async ({ page, expect }) => {
    await page.locator('.tabulator-header-filter input').pressSequentially('Name 1999');
    await expect(page.locator('.tabulator-row')).toHaveCount(1);
    await page.locator('.tabulator-row').click();
    await expect(log(page)).toHaveText('Name 1999');
  },
  'second page': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Next Page' }).click();
    await page.getByText('Name 15').click();
    await expect(log(page)).toHaveText('Name 15');
  },
};
