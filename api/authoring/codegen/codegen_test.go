package codegen_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/codegen"
	"github.com/slipway-qa/slipway/storage/step"
)

// tools are the tools of steps, as JSON.
func tools(t *testing.T, steps []step.Step) []string {
	t.Helper()
	all := make([]string, len(steps))
	for i := range steps {
		text, err := json.Marshal(steps[i].Tool)
		require.NoError(t, err)
		all[i] = string(text)
	}
	return all
}

// The file was written by playwright codegen 1.65, and its assertions added.
func TestOfTheTestRunner(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("testdata/shop.spec.ts")
	require.NoError(t, err)
	got, err := codegen.Read(string(code))
	require.NoError(t, err)
	require.Equal(t, "order a lamp", got.Name)
	require.Equal(t, "http://127.0.0.1:42177/", got.URL)
	require.Empty(t, got.Warnings)
	require.Equal(t, []string{
		`{"type":"go_to_url","args":{"url":"http://127.0.0.1:42177/"}}`,
		`{"type":"click","args":{"selector":{"type":"role","value":"textbox","name":"Mail"}}}`,
		`{"type":"input_text","args":{"selector":{"type":"role","value":"textbox","name":"Mail"},"text":"ann@x.org"}}`,
		`{"type":"press_key","args":{"selector":{"type":"role","value":"textbox","name":"Mail"},"key":"Tab"}}`,
		`{"type":"select","args":{"selector":{"type":"label","value":"Colour BlueRed"},"optionValue":"r"}}`,
		`{"type":"click","args":{"selector":{"type":"role","value":"checkbox","name":"Terms"}}}`,
		`{"type":"assert","args":{"selector":{"type":"role","value":"checkbox","name":"Terms"},"matcher":{"name":"checked","args":{}}}}`,
		`{"type":"click","args":{"selector":{"type":"role","value":"button","name":"Order"}}}`,
		`{"type":"click","args":{"selector":{"type":"role","value":"button","within":{"type":"role","value":"listitem","hasText":"Two Add"}}}}`,
		`{"type":"in_frame","args":{"selector":{"type":"css","value":"iframe"},"tool":{"type":"click","args":{"selector":{"type":"role",` +
			`"value":"button","name":"Inside"}}}}}`,
		`{"type":"click","args":{"selector":{"type":"role","value":"button","name":"Alert"}}}`,
		`{"type":"handle_dialog","args":{"action":"dismiss"}}`,
		`{"type":"click","args":{"selector":{"type":"role","value":"link","name":"Popup"}}}`,
		`{"type":"switch_window","args":{"matcher":{"name":"index","args":{"value":"1"}}}}`,
		`{"type":"assert","args":{"selector":{"type":"role","value":"heading","name":"Lamps"},"matcher":{"name":"visible","args":{}}}}`,
		`{"type":"switch_window","args":{"matcher":{"name":"index","args":{"value":"0"}}}}`,
		`{"type":"assert","args":{"selector":{"type":"css","value":"#out"},"matcher":{"name":"text","args":{"value":"Thanks ann@x.org",` +
			`"mode":"contains"}}}}`,
		`{"type":"assert","args":{"selector":{"type":"role","value":"checkbox","name":"Terms"},"matcher":{"name":"checked","args":{}},` +
			`"not":true}}`,
		`{"type":"assert","args":{"selector":{"type":"label","value":"Mail"},"matcher":{"name":"focused","args":{}}}}`,
		`{"type":"assert","args":{"matcher":{"name":"url","args":{"value":"(?i)\\/orders\\/\\d+$","mode":"matches"}}}}`,
	}, tools(t, got.Steps))
}

func TestOfTheLibrary(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("testdata/shop.cjs")
	require.NoError(t, err)
	got, err := codegen.Read(string(code))
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"go_to_url","args":{"url":"https://shop.example.com/"}}`,
		`{"type":"double_click","args":{"selector":{"type":"testId","value":"buy","index":0}}}`,
		`{"type":"right_click","args":{"selector":{"type":"text","value":"Say \"hi\"","exact":true}}}`,
	}, tools(t, got.Steps))
	require.Equal(t, []string{"line 7: the options of newContext are not kept: they belong to the target"}, got.Warnings)
}

// begun is code whose page is there.
func begun(lines string) string {
	return "import { test } from '@playwright/test';\ntest('x', async ({ page }) => {\n" + lines + "\n});\n"
}

func TestEachCall(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`await page.goBack();`: `{"type":"back","args":{}}`,
		`await page.keyboard.press('ControlOrMeta+a');`: `{"type":"press_key",` +
			`"args":{"key":"Control+a"}}`,
		`await page.locator('#a').press("ControlOrMeta+KeyA")`: `{"type":"press_key",` +
			`"args":{"selector":{"type":"css","value":"#a"},"key":"Control+a"}}`,
		`await page.setViewportSize({ width: 800, height: 600 });`: `{"type":"set_viewport",` +
			`"args":{"width":800,"height":600}}`,
		`await page.waitForTimeout(1500);`: `{"type":"pause","args":{"time":1500}}`,
		`await page.locator('a >> nth=0')`: "",
		`await page.locator('xpath=//a').last().hover();`: `{"type":"hover",` +
			`"args":{"selector":{"type":"xpath","value":"//a","index":-1}}}`,
		`await page.frameLocator('#f').getByText('x').nth(2).click()`: `{"type":"in_frame",` +
			`"args":{"selector":{"type":"css","value":"#f"},"tool":{"type":"click","args":{"selector":{"type":"text","value":"x","index":2}}}}}`,
		`await page.locator('#s').selectOption([{ label: 'Red' }]);`: `{"type":"select",` +
			`"args":{"selector":{"type":"css","value":"#s"},"optionValue":"Red"}}`,
		`await page.locator('#d').dragTo(page.locator('#e'));`: `{"type":"drag",` +
			`"args":{"selector":{"type":"css","value":"#d"},"target":{"type":"css","value":"#e"}}}`,
		`await page.getByRole('row', { name: 'a\u00e4\x41', exact: true, selected: true }).click();`: `{"type":"click",` +
			`"args":{"selector":{"type":"role","value":"row","name":"aäA","exact":true,"state":{"selected":true}}}}`,
		`await page.locator('li', { has: page.getByText('x') }).click();`: `{"type":"click","args":{"selector":{"type":"css","value":"li",` +
			`"has":{"type":"text","value":"x"}}}}`,
		`await expect(page.locator('li')).toHaveCount(3);`: `{"type":"assert","args":{"selector":{"type":"css",` +
			`"value":"li"},"matcher":{"name":"count","args":{"value":"3"}}}}`,
		`await expect(page.locator('b')).toBeDisabled();`: `{"type":"assert","args":{"selector":{"type":"css",` +
			`"value":"b"},"matcher":{"name":"enabled","args":{}},"not":true}}`,
		`await expect(page.locator('b')).not.toBeDisabled();`: `{"type":"assert","args":{"selector":{"type":"css",` +
			`"value":"b"},"matcher":{"name":"enabled","args":{}}}}`,
		`await expect(page.locator('b')).toHaveAttribute('href', /^\/a[/]b/);`: `{"type":"assert","args":{"selector":{"type":"css",` +
			`"value":"b"},"matcher":{"name":"attribute","args":{"value":"^\\/a[/]b","name":"href","mode":"matches"}}}}`,
		`await expect(page).toHaveTitle('Shop');`: `{"type":"assert","args":{"matcher":{"name":"title","args":{"value":"Shop",` +
			`"mode":"equals"}}}}`,
		"await page.locator(`#a`).fill('');": `{"type":"input_text","args":{"selector":{"type":"css","value":"#a"},"text":""}}`,
	} {
		got, err := codegen.Read(begun(code))
		if want == "" {
			require.Error(t, err, code)
			continue
		}
		require.NoError(t, err, code)
		require.Equal(t, []string{want}, tools(t, got.Steps), code)
	}
}

// What a test would do less than its author believes is refused by its line.
func TestRefused(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`for (const x of [1]) await page.goBack();`:                 "line 3: is no code of a recording",
		`if (true) { await page.goBack(); }`:                        "line 3: if is no page of the recording",
		`await page.evaluate(() => 1);`:                             "line 3: evaluate has no counterpart",
		`const t = await page.title();`:                             "line 3: the value of title is not read",
		`await page.locator('#f').setInputFiles('a.png');`:          "line 3: setInputFiles names a file",
		`await page.getByText(/x/).click();`:                        "line 3: getByText needs a text in quotes",
		"await page.getByText(`a${b}`).click();":                    "line 3: getByText needs a text in quotes",
		`await page.getByText('x').click({ modifiers: ['Alt'] });`:  "line 3: the option modifiers of click has no counterpart",
		`await page.getByText('x').click({ button: 'middle' });`:    "line 3: this click has no counterpart",
		`await page.getByText('x').or(page.getByText('y')).click()`: "line 3: click has no counterpart",
		`await expect(page.locator('a')).toMatchAriaSnapshot('x');`: "line 3: toMatchAriaSnapshot has no counterpart",
		`await expect(page.locator('a')).toHaveURL('x');`:           "line 3: toHaveURL has no counterpart",
		`await page.waitForURL('**/x');`:                            "line 3: waitForURL with a glob",
		`page.once('dialog', d => d.accept());`:                     "line 3: a dialog is answered, but nothing behind opens one",
		"\n\nawait page.getByRole('button', { name: 7 }).click();":  "line 5: the option name of getByRole",
		`await page.getByText('x`:                                   "line 3: a string has no end",
		`await page.getByRole('nothing').click();`:                  "line 3: ",
		"});\ntest('y', async ({ page }) => {":                      "line 4: is a second test",
		``:                                                          "holds no step",
	} {
		_, err := codegen.Read(begun(code))
		require.ErrorContains(t, err, want, code)
		var wrong *step.InvalidError
		require.ErrorAs(t, err, &wrong)
	}
	_, err := codegen.Read(strings.Repeat("[", 100_000))
	require.Error(t, err)
	_, err = codegen.Read(begun("await page.a(" + strings.Repeat("[", 100_000) + ");"))
	require.ErrorContains(t, err, "is nested more than")
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/shop.spec.ts", "testdata/shop.cjs"} {
		code, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(string(code))
	}
	f.Add(begun(`page.once('dialog', d => d.accept('x')); await page.getByText("a").nth(-1).click({ position: { x: 1, y: 2 } });`))
	f.Fuzz(func(t *testing.T, code string) {
		got, err := codegen.Read(code)
		if err == nil {
			require.NoError(t, step.Validate(got.Steps))
		}
	})
}
