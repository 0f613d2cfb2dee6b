'use strict';

module.exports = {
  'draggable': async ({ page, expect }) => {
    await page.locator('#box').dragTo(page.locator('#target'));
    await expect(page.locator('#log')).toHaveText('start, stop right');
  },
  'draggable along an axis': async ({ page, expect }) => {
    await page.locator('#box').dragTo(page.locator('#target'));
    await expect(page.locator('#log')).toHaveText('stop right 0');
  },
  'draggable by its handle': async ({ page, expect }) => {
    await page.locator('#handle').dragTo(page.locator('#target'));
    await expect(page.locator('#log')).toHaveText('stop');
  },
  'draggable not by its body': async ({ page, expect }) => {
    await page.locator('#box').dragTo(page.locator('#target'));
    await expect(page.locator('#log')).toHaveText('stop');
  },
  'droppable': async ({ page, expect }) => {
    await page.locator('#box').dragTo(page.locator('#target'));
    await expect(page.locator('#log')).toHaveText('over, drop, stop');
  },
  'droppable that refuses': async ({ page, expect }) => {
    await page.locator('#box').dragTo(page.locator('#other'));
    await expect(page.locator('#log')).toContainText('drop');
  },
  'sortable down': async ({ page, expect }) => {
    await page.locator('#apples').dragTo(page.locator('#plums'));
    await expect(page.locator('#log')).toHaveText('Pears Plums Apples Cherries');
  },
  'sortable up': async ({ page, expect }) => {
    await page.locator('#cherries').dragTo(page.locator('#edge'));
    await expect(page.locator('#log')).toHaveText('Cherries Apples Pears Plums');
  },
  'sortable past a distance': async ({ page, expect }) => {
    await page.locator('#apples').dragTo(page.locator('#cherries'));
    await expect(page.locator('#log')).toHaveText('Pears Plums Cherries Apples');
  },
  'sortable between lists': async ({ page, expect }) => {
    await page.locator('#pears').dragTo(page.locator('#first'));
    await expect(page.locator('#log')).toHaveText('received Pears');
  },
  'selectable': async ({ page, expect }) => {
    await page.locator('#plums').click();
    await expect(page.locator('#log')).toHaveText('selected Plums');
  },
  'resizable': async ({ page, expect }) => {
    await page.locator('.ui-resizable-se').dragTo(page.locator('#corner'));
    await expect(page.locator('#log')).toHaveText('resized large');
  },
  'slider by keys': async ({ page, expect }) => {
    const handle = page.locator('.ui-slider-handle');
    await handle.press('ArrowRight');
    await handle.press('End');
    await expect(page.locator('#log')).toHaveText('value 4, value 10');
  },
  'slider by its handle': async ({ page, expect }) => {
    await page.locator('.ui-slider-handle').dragTo(page.locator('#mark'));
    await expect(page.locator('#log')).toHaveText('high');
  },
  'range slider without saying which handle': async ({ page }) => {
    await page.locator('.ui-slider-handle').press('ArrowRight');
  },
  'range slider, second handle': async ({ page, expect }) => {
    await page.locator('.ui-slider-handle').nth(1).press('ArrowLeft');
    await expect(page.locator('#log')).toHaveText('2-7');
  },
  'datepicker': async ({ page, expect }) => {
    await page.locator('#date').click();
    await page.locator('#ui-datepicker-div').getByText('17', { exact: true }).click();
    await expect(page.locator('#log')).toHaveText('picked 2030-01-17');
    await expect(page.locator('#date')).toHaveValue('2030-01-17');
  },
  'datepicker, next month': async ({ page, expect }) => {
    await page.locator('#date').click();
    await page.locator('.ui-datepicker-next').click();
    await expect(page.locator('.ui-datepicker-title')).toHaveText('February 2030');
    await page.locator("//a[text()='3']").click();
    await expect(page.locator('#date')).toHaveValue('2030-02-03');
  },
  'datepicker with menus': async ({ page, expect }) => {
    await page.locator('#date').click();
    await page.locator('.ui-datepicker-month').selectOption('Mar');
    await page.locator('.ui-datepicker-year').selectOption('2031');
    await page.getByRole('link', { name: '9', exact: true }).click();
    await expect(page.locator('#log')).toHaveText('picked 2031-03-09');
  },
  'autocomplete': async ({ page, expect }) => {
    await page.locator('#city').pressSequentially('ber');
    await page.getByText('Bergen').click();
    await expect(page.locator('#log')).toHaveText('chose Bergen');
    await expect(page.locator('#city')).toHaveValue('Bergen');
  },
  'autocomplete by keys': async ({ page, expect }) => {
    await page.getByLabel('City').pressSequentially('ber');
    await expect(page.locator("//div[text()='Bern']")).toBeVisible();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page.locator('#log')).toHaveText('chose Bern');
  },
  'menu of three levels': async ({ page, expect }) => {
    await page.locator('#file > div').hover();
    await page.locator('#recent > div').hover();
    await page.getByText('report.txt').click();
    await expect(page.locator('#log')).toHaveText('selected report.txt');
  },
  'animated modal': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.getByRole('button', { name: 'OK' }).click();
    await expect(page.locator('#log')).toHaveText('ok, closed');
    await expect(page.locator('#dialog')).toBeHidden();
  },
  'animated modal, cancelled by Escape': async ({ page, expect }) => {
    await page.locator('#open').click();
    await expect(page.locator('#dialog')).toBeVisible();
    await page.getByRole('button', { name: 'Cancel' }).press('Escape');
    await expect(page.locator('#log')).toHaveText('closed');
  },
  'dialog moved by its title': async ({ page, expect }) => {
    await page.locator('#open').click();
    await page.locator('.ui-dialog-title').dragTo(page.locator('#log'));
    await page.locator('#behind').click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(page.locator('#log')).toHaveText('behind, cancel, closed');
  },
  'button behind a modal': async ({ page }) => {
    await page.locator('#behind').click();
  },
  'tab': async ({ page, expect }) => {
    await page.getByRole('tab', { name: 'Two' }).click();
    await page.locator('#inner').click();
    await expect(page.locator('#log')).toHaveText('tab two, inner');
  },
  'accordion': async ({ page, expect }) => {
    await page.locator("//h3[contains(., 'Two')]").click();
    await expect(page.locator('#log')).toHaveText('open Two');
    await page.locator('#inner').click();
    await expect(page.locator('#log')).toHaveText('open Two, inner');
  },
  'spinner to its end': async ({ page, expect }) => {
    await page.locator('.ui-spinner-up').click();
    await page.locator('.ui-spinner-up').click();
    await expect(page.locator('#count')).toHaveValue('5');
  },
  'selectmenu': async ({ page, expect }) => {
    await page.locator('#speed-button').click();
    await page.getByRole('option', { name: 'Fast' }).click();
    await expect(page.locator('#log')).toHaveText('speed Fast');
    await expect(page.locator('#speed-button')).toHaveText('Fast');
  },
  'checkbox and radio': async ({ page, expect }) => {
    await page.getByText('Agree').click();
    await page.locator('label[for=l]').click();
    await expect(page.locator('#log')).toHaveText('c true, l true');
    await expect(page.locator('#l')).toBeChecked();
  },
  'tooltip': async ({ page, expect }) => {
    await page.locator('#b').hover();
    await expect(page.getByRole('tooltip')).toHaveText('More about this');
  },
  'panel that slides in': async ({ page, expect }) => {
    await page.locator('#b').click();
    await page.locator('#inner').click();
    await expect(page.locator('#log')).toHaveText('inner at rest');
  },
};
