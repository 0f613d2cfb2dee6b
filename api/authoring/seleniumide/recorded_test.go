package seleniumide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/seleniumide"
	"github.com/slipway-qa/slipway/storage/step"
)

// recorded is what a recorder writes for a purchase with a window of its own.
const recorded = `{
  "id": "7d1f0c1a-2f0e-4a58-9d4c-2f2f6a0f9b11", "version": "2.0", "name": "Shop", "url": "https://shop.example.com",
  "tests": [{
    "id": "c1b0a1de-57e5-4a84-8a53-7e1df3c5b7a2", "name": "buy a lamp",
    "commands": [
      {"id": "1", "comment": "", "command": "open", "target": "/", "targets": [], "value": ""},
      {"id": "2", "comment": "", "command": "setWindowSize", "target": "1280x720", "targets": [], "value": ""},
      {"id": "3", "comment": "the customer", "command": "type", "target": "id=email", "targets": [
        ["id=email", "id"], ["name=user[email]", "name"], ["css=*[data-testid='mail']", "css:data-attr"], ["css=#email", "css:finder"],
        ["xpath=//input[@id='email']", "xpath:attributes"], ["xpath=//input", "xpath:position"]], "value": "ada@example.com"},
      {"id": "4", "comment": "", "command": "sendKeys", "target": "id=email", "targets": [], "value": "${KEY_ENTER}"},
      {"id": "5", "comment": "", "command": "waitForElementVisible", "target": "css=.list", "targets": [], "value": "30000"},
      {"id": "6", "comment": "", "command": "mouseOver", "target": "linkText=Lamps", "targets": [
        ["linkText=Lamps", "linkText"], ["xpath=//a[contains(text(),'Lamps')]", "xpath:link"]], "value": ""},
      {"id": "7", "comment": "", "command": "mouseOut", "target": "linkText=Lamps", "targets": [], "value": ""},
      {"id": "8", "comment": "", "command": "storeWindowHandle", "target": "root", "targets": [], "value": ""},
      {"id": "9", "comment": "", "command": "click", "target": "css=.buy", "targets": [
        ["css=.buy", "css:finder"], ["xpath=//button[contains(.,'Buy now')]", "xpath:innerText"]], "value": "",
        "opensWindow": true, "windowHandleName": "win4711", "windowTimeout": 2000},
      {"id": "10", "comment": "", "command": "selectWindow", "target": "handle=${win4711}", "targets": [], "value": ""},
      {"id": "11", "comment": "", "command": "selectFrame", "target": "index=0", "targets": [["index=0"]], "value": ""},
      {"id": "12", "comment": "", "command": "select", "target": "name=country", "targets": [], "value": "label=Österreich"},
      {"id": "13", "comment": "", "command": "//click", "target": "id=old", "targets": [], "value": ""},
      {"id": "14", "comment": "", "command": "selectFrame", "target": "relative=parent", "targets": [["relative=parent"]], "value": ""},
      {"id": "15", "comment": "", "command": "click", "target": "id=pay", "targets": [["id=pay", "id"]], "value": ""},
      {"id": "16", "comment": "", "command": "assertConfirmation", "target": "Pay 20 EUR?", "targets": [], "value": ""},
      {"id": "17", "comment": "", "command": "webdriverChooseOkOnVisibleConfirmation", "target": "", "targets": [], "value": ""},
      {"id": "18", "comment": "", "command": "close", "target": "", "targets": [], "value": ""},
      {"id": "19", "comment": "", "command": "selectWindow", "target": "handle=${root}", "targets": [], "value": ""},
      {"id": "20", "comment": "", "command": "verifyText", "target": "css=.message", "targets": [["css=.message", "css:finder"]], ` +
	`"value": "Thank you, Ada"},
      {"id": "21", "comment": "", "command": "close", "target": "", "targets": [], "value": ""}
    ]
  }],
  "suites": [{"id": "s", "name": "Default Suite", "persistSession": false, "parallel": false, "timeout": 300, "tests": ` +
	`["c1b0a1de-57e5-4a84-8a53-7e1df3c5b7a2"]}],
  "urls": ["https://shop.example.com/"], "plugins": []
}`

func TestRecorded(t *testing.T) {
	t.Parallel()
	got, err := seleniumide.Import([]byte(recorded), "buy a lamp")
	require.NoError(t, err)
	require.Equal(t, "buy a lamp", got.Name)
	require.Equal(t, "https://shop.example.com", got.URL)
	require.Equal(t, []string{
		"go_to_url /",
		`input_text #email "ada@example.com"`,
		"press_key #email Enter",
		"assert .list visible within 30000",
		`hover //a[normalize-space(.)="Lamps"]`,
		"click .buy",
		"switch_window index 1",
		`in_frame iframe, frame #0 {select [name="country"] "Österreich"}`,
		"click #pay",
		"handle_dialog accept",
		"switch_window index 0",
		"assert .message text equals Thank you, Ada",
	}, lines(got.Steps))
	for i, id := range []string{"s1", "s2", "s3"} {
		require.Equal(t, id, got.Steps[i].ID)
		require.Nil(t, got.Steps[i].Result)
	}
	require.Equal(t, "the customer", got.Steps[1].Tool.Args.Reasoning)
	require.Equal(t, "The dialog says: Pay 20 EUR?", got.Steps[9].Tool.Args.Reasoning)

	print := func(i int) *step.Fingerprint { return got.Steps[i].Tool.Args.Selector.Fingerprint }
	require.Equal(t, &step.Fingerprint{TestID: "mail", Attributes: map[string]string{"id": "email", "name": "user[email]"}}, print(1))
	require.Equal(t, &step.Fingerprint{Name: "Lamps", Text: "Lamps"}, print(4))
	require.Equal(t, &step.Fingerprint{Name: "Buy now", Text: "Buy now"}, print(5))
	require.True(t, print(5).Partial(), "a run completes it")
	require.Nil(t, print(3), "assertions use none")
	require.Nil(t, print(11), "assertions use none")
	require.Nil(t, got.Steps[7].Tool.Args.Selector.Fingerprint, "nothing is known of the frame")
}
