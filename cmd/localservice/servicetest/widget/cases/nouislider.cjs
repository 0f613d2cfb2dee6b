'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'by keys': async ({ page, expect }) => {
    await page.locator('.noUi-handle').press('ArrowRight');
    await expect(log(page)).toHaveText('30');
  },
  'by its handle': async ({ page, expect }) => {
    await page.locator('.noUi-handle').dragTo(page.locator('#mark'));
    await expect(log(page)).toHaveText(/[789]0|100/);
  },
  'two handles, and which is not said': async ({ page }) => {
    await page.locator('.noUi-handle').press('ArrowRight');
  },
  'second of two handles': async ({ page, expect }) => {
    await page.locator('.noUi-handle').nth(1).press('ArrowRight');
    await expect(log(page)).toHaveText('20-60');
  },
  'click on the line': async ({ page, expect }) => {
    await page.locator('.noUi-base').click();
    await expect(log(page)).toHaveText('50');
  },
};
