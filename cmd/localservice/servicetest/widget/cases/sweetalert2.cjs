'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'confirmed': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await expect(log(page)).toHaveText('deleted');
    await expect(page.locator('.swal2-popup')).toBeHidden();
  },
  'cancelled by Escape': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.locator('.swal2-popup')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(log(page)).toHaveText('kept');
  },
  'button behind it': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.locator('.swal2-popup')).toBeVisible();
    await page.locator('#b').click();
  },
  'prompt': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(page.getByText('Give a name', { exact: true })).toBeVisible();
    await page.getByLabel('Your name').fill('Ada');
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(log(page)).toHaveText('name Ada');
  },
  'toast': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.locator('#swal2-title')).toHaveText('Saved');
    await expect(log(page)).toHaveText('gone');
  },
  'work before it closes': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(log(page)).toHaveText('sent');
  },
};
