'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'single': async ({ page, expect }) => {
    await page.locator('.select2-selection').click();
    await page.getByRole('option', { name: 'Name 5', exact: true }).click();
    await expect(log(page)).toHaveText('v5');
    await expect(page.locator('.select2-selection__rendered')).toHaveText('Name 5');
  },
  'search': async ({ page, expect }) => {
    await page.locator('.select2-selection').click();
    await page.locator('.select2-search__field').pressSequentially('Name 177');
    await page.locator('.select2-results__option--highlighted').click();
    await expect(log(page)).toHaveText('v177');
  },
  'several': async ({ page, expect }) => {
    await page.locator('.select2-selection').click();
    await page.getByRole('option', { name: 'Name 2', exact: true }).click();
    await page.locator('.select2-selection').click();
    await page.getByRole('option', { name: 'Name 4' }).click();
    await expect(log(page)).toHaveText('v2, v2+v4');
  },
  'one removed': async ({ page, expect }) => {
    await page.locator('.select2-selection').click();
    await page.getByRole('option', { name: 'Name 3' }).click();
    await page.locator('.select2-selection__choice__remove').click();
    await expect(log(page)).toHaveText('v3, ');
    await expect(page.locator('.select2-selection__choice')).toHaveCount(0);
  },
  'options from a server': async ({ page, expect }) => {
    await page.locator('.select2-selection').click();
    await page.getByRole('option', { name: 'Bern', exact: true }).click();
    await expect(log(page)).toHaveText('Bern');
  },
  'cleared': async ({ page, expect }) => {
    await page.locator('.select2-selection').click();
    await page.getByRole('option', { name: 'Name 1' }).click();
    await page.locator('.select2-selection__clear').click();
    await expect(log(page)).toHaveText('v1, ');
    await expect(page.getByText('Choose')).toBeVisible();
  },
};
