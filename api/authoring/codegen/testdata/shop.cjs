const { chromium, devices } = require('playwright');

(async () => {
  const browser = await chromium.launch({
    headless: false
  });
  const context = await browser.newContext({
    ...devices['Pixel 5'],
  });
  const page = await context.newPage();
  await page.goto('https://shop.example.com/');
  await page.getByTestId('buy').first().dblclick();
  await page.getByText('Say "hi"', { exact: true }).click({
    button: 'right'
  });

  // ---------------------
  await context.close();
  await browser.close();
})();
