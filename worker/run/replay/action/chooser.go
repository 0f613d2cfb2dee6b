package action

import (
	"context"
	"encoding/json"
	"time"

	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// chooserScript puts files into the input of a chooser, as fill.js does.
const chooserScript = `(el, text) => {
	const transfer = new DataTransfer();
	for (const f of JSON.parse(text)) {
		transfer.items.add(new File([Uint8Array.from(atob(f.content), (c) => c.charCodeAt(0))], f.name, { type: f.type }));
	}
	if (el.localName !== "input" || el.type !== "file") return "the chooser is not that of a file input";
	if (transfer.files.length > 1 && !el.multiple) return "the input takes one file";
	el.files = transfer.files;
	for (const type of ["input", "change"]) el.dispatchEvent(new Event(type, { bubbles: true, composed: type === "input" }));
	return "";
}`

// chooserPoll is how often a step looks whether a chooser has opened.
const chooserPoll = 20 * time.Millisecond

// chooseFiles waits for the chooser that the step before has opened, and answers it.
func (a Action) chooseFiles(ctx context.Context, files []page.File) error {
	a.Screenshotter.Wait(ctx)
	if a.Choosers == nil {
		return failure.Stepf("the step names no element")
	}
	var opened *session.OpenedChooser
	err := a.Until(ctx, chooserPoll, func() (bool, *failure.Failure, error) {
		opened = a.Choosers.Take()
		return opened != nil, failure.Stepf("no file chooser was opened"), nil
	})
	if err != nil {
		return err
	}
	select {
	case <-opened.Held:
	case <-ctx.Done():
		return ctx.Err()
	}
	list, err := json.Marshal(files)
	if err != nil {
		return err
	}
	var got struct {
		Type   string `json:"type"`
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
	}
	err = a.Timed(ctx, func(ctx context.Context) error {
		return a.Choosers.Conn.Command(ctx, "script.callFunction", map[string]any{"functionDeclaration": chooserScript,
			"target": map[string]string{"context": opened.Context}, "awaitPromise": false, "userActivation": true,
			"arguments": []any{map[string]string{"sharedId": opened.Element.SharedID}, map[string]string{"type": "string",
				"value": string(list)}}}, &got)
	})
	switch {
	case err != nil:
		return a.AfterInput(ctx, err)
	case got.Type != "success":
		return failure.Stepf("the page did not take the files")
	case got.Result.Value != "":
		return failure.Stepf("%s", failure.Bounded(got.Result.Value, 100))
	}
	return nil
}
