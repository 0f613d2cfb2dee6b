import { test, expect } from '@playwright/test';

test('order a lamp', async ({ page }) => {
  await page.goto('http://127.0.0.1:42177/');
  await page.getByRole('textbox', { name: 'Mail' }).click();
  await page.getByRole('textbox', { name: 'Mail' }).fill('ann@x.org');
  await page.getByRole('textbox', { name: 'Mail' }).press('Tab');
  await page.getByLabel('Colour BlueRed').selectOption('r');
  await page.getByRole('checkbox', { name: 'Terms' }).check();
  await page.getByRole('button', { name: 'Order' }).click();
  await page.getByRole('listitem').filter({ hasText: 'Two Add' }).getByRole('button').click();
  await page.locator('iframe').contentFrame().getByRole('button', { name: 'Inside' }).click();
  page.once('dialog', dialog => {
    console.log(`Dialog message: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  await page.getByRole('button', { name: 'Alert' }).click();
  const page1Promise = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Popup' }).click();
  const page1 = await page1Promise;
  await expect(page1.getByRole('heading', { name: 'Lamps' })).toBeVisible();
  await page1.close();
  await expect(page.locator('#out')).toContainText('Thanks ann@x.org');
  await expect(page.getByRole('checkbox', { name: 'Terms' })).not.toBeChecked();
  await expect(page.getByLabel('Mail')).toBeFocused();
  await expect(page).toHaveURL(/\/orders\/\d+$/i);
});
