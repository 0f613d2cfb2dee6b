'use strict';

const log = (page) => page.locator('#log');

module.exports = {
  'cookie, storage and colours before the first script': async ({ page, expect }) => {
    await page.context().addCookies([{ name: 'session', value: 's1', url: page.url() }]);
    await page.evaluate(() => localStorage.setItem('theme', 'night'));
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.reload();
    await expect(log(page)).toHaveText('night session=s1 dark');
    await page.context().clearCookies();
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await expect(log(page)).toHaveText('no theme no cookie dark');
  },
  'an hour by the page\'s clock': async ({ page, expect }) => {
    await page.clock.install({ time: '2031-05-06T07:08:09Z' });
    await page.clock.pauseAt('2031-05-06T07:08:10Z');
    await page.clock.setFixedTime('2031-05-06T07:08:09Z');
    await page.reload();
    await expect(log(page)).toHaveText(/^2031-05-06T07:08:09/);
    await page.clock.fastForward(3600000);
    await expect(log(page)).toHaveText(/signed out after/);
  },
  'a button in each row': async ({ page, expect }) => {
    for (const row of await page.locator('li').all()) await row.getByRole('button', { name: 'Invite' }).click();
    await expect(log(page)).toHaveText('Ada, Linus, Grace');
  },
  'a number kept for a later field': async ({ page, expect }) => {
    await page.locator('#b').click();
    await expect(page.locator('#done')).toHaveText(/no\. \d+/);
    const [, number] = /no\. (\d+)/.exec(await page.locator('#done').innerText());
    await page.getByLabel('Find').fill(number);
    await expect(log(page)).toHaveText('found');
  },
};
