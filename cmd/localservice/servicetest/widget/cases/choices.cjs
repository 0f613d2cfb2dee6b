'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'single': async ({ page, expect }) => {
    await page.locator('.choices').click();
    await page.locator('.choices__list--dropdown').getByRole('option', { name: 'Plum' }).click();
    await expect(log(page)).toHaveText('plum');
    await expect(page.locator('.choices__list--single')).toHaveText('Plum');
  },
  'search': async ({ page, expect }) => {
    await page.locator('.choices').click();
    await page.locator('.choices__input--cloned').pressSequentially('che');
    await page.locator('.choices__list--dropdown').getByRole('option', { name: 'Cherry' }).click();
    await expect(log(page)).toHaveText('cherry');
  },
  'several': async ({ page, expect }) => {
    await page.locator('.choices').click();
    await page.locator('.choices__list--dropdown').getByRole('option', { name: 'Pear' }).click();
    await page.locator('.choices__list--dropdown').getByRole('option', { name: 'Apple' }).click();
    await expect(log(page)).toHaveText('pear, pear+apple');
  },
  'one removed': async ({ page, expect }) => {
    await page.locator('.choices').click();
    await page.locator('.choices__list--dropdown').getByRole('option', { name: 'Plum' }).click();
    await page.locator('.choices__button').click();
    await expect(log(page)).toHaveText('plum, ');
  },
};
