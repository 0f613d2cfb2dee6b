'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'search': async ({ page, expect }) => {
    await page.getByRole('searchbox').fill('133');
    await expect(page.locator('tbody tr')).toHaveCount(1);
    await page.getByRole('button', { name: 'Edit' }).click();
    await expect(log(page)).toHaveText('edit Name 133');
  },
  'sorted': async ({ page, expect }) => {
    await page.getByRole('columnheader', { name: 'Age' }).click();
    await expect(page.getByRole('columnheader', { name: 'Age' })).toHaveAttribute('aria-sort', 'ascending');
    await expect(page.locator('tbody tr td:nth-child(2)').first()).toHaveText('1');
  },
  'next page': async ({ page, expect }) => {
    await page.locator('[data-dt-idx=next]').click();
    await page.getByRole('row').filter({ hasText: 'Name 115' }).getByRole('button').click();
    await expect(log(page)).toHaveText('edit Name 115');
  },
  'length': async ({ page, expect }) => {
    await page.locator('select.dt-input').selectOption('50');
    await expect(page.locator('tbody tr')).toHaveCount(50);
    await page.locator('tbody button').last().click();
    await expect(log(page)).toHaveText('edit Name 150');
  },
  'row without saying which': async ({ page }) => {
    await page.locator('tbody button').click();
  },
};
