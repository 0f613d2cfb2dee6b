'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'animated modal': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(log(page)).toContainText('ok');
    await expect(page.locator('#modal')).toBeHidden();
  },
  'modal closed by its cross': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.getByRole('button', { name: 'Close' }).click();
    await expect(log(page)).toContainText('hidden');
    await page.locator('#behind').click();
    await expect(log(page)).toContainText('behind');
  },
  'modal closed by Escape': async ({ page, expect }) => {
    await page.locator('#open').click();
    await expect(log(page)).toHaveText('shown');
    await page.keyboard.press('Escape');
    await expect(log(page)).toHaveText('shown, hidden');
  },
  'button behind a modal': async ({ page, expect }) => {
    await page.locator('#open').click();
    await expect(log(page)).toHaveText('shown');
    await page.locator('#behind').click();
  },
  'dropdown': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('link', { name: 'Paste' }).click();
    await expect(log(page)).toHaveText('Paste');
  },
  'disabled item of a dropdown': async ({ page }) => {
    await page.locator('#b').click();
    await page.getByText('Move').click();
  },
  'item of a closed dropdown': async ({ page }) => {
    await page.getByText('Copy').click();
  },
  'collapse': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.locator('#inner').click();
    await expect(log(page)).toContainText('inner');
  },
  'tab that fades in': async ({ page, expect }) => {
    await page.getByRole('tab', { name: 'Two' }).click();
    await page.locator('#inner').click();
    await expect(log(page)).toHaveText('inner');
  },
  'toast': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.getByRole('alert')).toHaveText('Saved well');
    await expect(log(page)).toHaveText('gone');
    await expect(page.locator('#t')).toBeHidden();
  },
  'menu from the side': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.getByRole('link', { name: 'Profile' }).click();
    await expect(log(page)).toHaveText('profile at rest');
  },
  'tooltip': async ({ page, expect }) => {
    await page.locator('#b').hover();
    await expect(page.getByRole('tooltip')).toHaveText('Helpful words');
    await page.locator('#log').hover();
    await expect(page.locator('.tooltip')).toBeHidden();
  },
  'popover': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.locator('.popover-body')).toHaveText('Some content');
    await page.locator('#b').click();
    await expect(log(page)).toHaveText('hidden');
  },
  'accordion': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Part 2' }).click();
    await page.locator('#i2').click();
    await page.getByRole('button', { name: 'Part 3' }).click();
    await page.locator('#i3').click();
    await expect(page.locator('#i2')).toBeHidden();
    await expect(log(page)).toHaveText('i2, i3');
  },
  'carousel': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Slide 2').click();
    await expect(log(page)).toHaveText('i2');
  },
  'form with validation': async ({ page, expect }) => {
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(page.getByText('Give a mail address.')).toBeVisible();
    await page.getByLabel('Mail').fill('a@b.c');
    await page.getByRole('switch', { name: 'Letters' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(log(page)).toHaveText('invalid, sent true');
  },
  'navigation of a small window': async ({ page, expect }) => {
    await page.setViewportSize({ width: 600, height: 800 });
    await page.getByRole('button', { name: 'Toggle navigation' }).click();
    await page.locator('#cart').click();
    await expect(log(page)).toHaveText('cart');
  },
};
