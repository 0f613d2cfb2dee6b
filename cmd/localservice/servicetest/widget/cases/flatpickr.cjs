'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'day': async ({ page, expect }) => {
    await page.getByLabel('Date').click();
    await page.locator(".flatpickr-day[aria-label='January 17, 2030']").click();
    await expect(log(page)).toHaveText('2030-01-17');
    await expect(page.locator('#d')).toHaveValue('2030-01-17');
  },
  'next month': async ({ page, expect }) => {
    await page.locator('#d').click();
    await page.locator('.flatpickr-next-month').click();
    await page.locator("[aria-label='February 3, 2030']").click();
    await expect(log(page)).toHaveText('2030-02-03');
  },
  'month of a list': async ({ page, expect }) => {
    await page.locator('#d').click();
    await page.locator('.flatpickr-monthDropdown-months').selectOption('June');
    await page.locator("[aria-label='June 9, 2030']").click();
    await expect(log(page)).toHaveText('2030-06-09');
  },
  'time': async ({ page, expect }) => {
    await page.locator('#d').click();
    await page.locator('.flatpickr-hour').fill('18');
    await page.locator('.flatpickr-hour').press('Enter');
    await expect(log(page)).toContainText('2030-01-15 18:30');
  },
  'range': async ({ page, expect }) => {
    await page.locator('#d').click();
    await page.locator("[aria-label='January 10, 2030']").click();
    await page.locator("[aria-label='January 20, 2030']").click();
    await expect(log(page)).toHaveText('2030-01-10, 2030-01-10 to 2030-01-20');
  },
  'calendar in the page': async ({ page, expect }) => {
    await page.getByText('22', { exact: true }).click();
    await expect(log(page)).toHaveText('2030-01-22');
  },
};
