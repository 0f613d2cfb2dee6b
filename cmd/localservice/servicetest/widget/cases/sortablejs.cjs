'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'native drag': async ({ page, expect }) => {
    await page.locator('#apples').dragTo(page.locator('#plums'));
    await expect(log(page)).toHaveText('Pears Plums Apples Cherries');
  },
  'drag without native events': async ({ page, expect }) => {
    await page.locator('#apples').dragTo(page.locator('#cherries'));
    await expect(log(page)).toHaveText('Pears Plums Cherries Apples');
  },
  'drag upwards': async ({ page, expect }) => {
    await page.locator('#cherries').dragTo(page.locator('#pears'));
    await expect(log(page)).toHaveText('Apples Cherries Pears Plums');
  },
  'drag by a handle': async ({ page, expect }) => {
    await page.locator('#apples .grip').dragTo(page.locator('#pears'));
    await expect(log(page)).toHaveText('Pears Apples Plums Cherries');
  },
  'drag to another list': async ({ page, expect }) => {
    await page.locator('#pears').dragTo(page.locator('#taken'));
    await expect(log(page)).toContainText('Pears');
    await expect(page.locator('#b li')).toHaveCount(2);
  },
  'drag in a list that is disabled': async ({ page, expect }) => {
    await page.locator('#apples').dragTo(page.locator('#plums'));
    await expect(log(page)).toContainText('Apples');
  },
};
