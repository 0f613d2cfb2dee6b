'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'opened and chosen': async ({ page, expect }) => {
    await page.locator('#plants').locator('.jstree-ocl').click();
    await page.locator('#oak_anchor').click();
    await expect(log(page)).toHaveText('oak');
  },
  'opened by a double click': async ({ page, expect }) => {
    await page.locator('#plants_anchor').dblclick();
    await page.locator('#elm_anchor').click();
    await expect(log(page)).toContainText('elm');
  },
  'checkboxes': async ({ page, expect }) => {
    await page.locator('#plants > .jstree-ocl').click();
    await page.locator('#elm_anchor .jstree-checkbox').click();
    await expect(log(page)).toHaveText('elm');
  },
  'renamed by the context menu': async ({ page, expect }) => {
    await page.locator('#stones_anchor').click({ button: 'right' });
    await page.getByText('Rename').click();
    await page.locator('.jstree-rename-input').fill('Rocks');
    await page.locator('.jstree-rename-input').press('Enter');
    await expect(log(page)).toContainText('renamed Rocks');
    await expect(page.locator('#stones')).toHaveText('Rocks');
  },
  'by keys': async ({ page, expect }) => {
    await page.locator('#plants_anchor').click();
    await page.keyboard.press('ArrowRight');
    await expect(page.locator('#oak_anchor')).toBeVisible();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(log(page)).toHaveText('plants, oak');
  },
  'moved by dragging': async ({ page, expect }) => {
    await page.locator('#stones_anchor').dragTo(page.locator('#plants_anchor'));
    await expect(log(page)).toContainText('moved stones plants');
  },
};
