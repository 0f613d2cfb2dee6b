package replay

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/state"
)

// chooser knows the input whose file chooser a step has opened: also one that the page
// made on the click, which no selector finds.
type chooser struct {
	conn         *webdriver.BiDi
	subscription string
	unhandle     func()

	mu     sync.Mutex
	opened *openedChooser // that no step has answered yet
}

type openedChooser struct {
	Context  string `json:"context"`
	Multiple bool   `json:"multiple"`
	Element  struct {
		SharedID string `json:"sharedId"`
	} `json:"element"`

	held chan struct{} // closed when the browser was asked to keep the element
}

const chooserEvent = "input.fileDialogOpened"

// choosesFiles reports whether a step answers the chooser that another opens.
func choosesFiles(steps []step.Step) bool {
	for i := range steps {
		for _, t := range append([]step.Tool{innermost(steps[i].Tool)}, innermost(steps[i].Tool).Args.Tools...) {
			if t.Type == step.UploadFile && t.Args.Selector == nil {
				return true
			}
		}
	}
	return false
}

// watchChoosers begins to note the choosers that open in the window's user context.
func (x *stepExecution) watchChoosers(ctx context.Context) error {
	conn, err := x.bidi(ctx, "upload_file into a file chooser")
	if err != nil {
		return err
	}
	window, err := x.currentWindow(ctx)
	if err != nil {
		return err
	}
	userContext, err := state.UserContext(ctx, conn, window)
	if err != nil {
		return err
	}
	var subscribed struct {
		Subscription string `json:"subscription"`
	}
	err = conn.Command(ctx, "session.subscribe", map[string]any{"events": []string{chooserEvent}, "userContexts": []string{userContext}}, &subscribed)
	if webdriver.Is(err, webdriver.ErrInvalidArgument, webdriver.ErrUnsupported, webdriver.ErrUnknownCommand) {
		return stepf("upload_file into a file chooser needs the event %s of WebDriver BiDi, which this browser does not offer", chooserEvent)
	}
	if err != nil {
		return err
	}
	c := &chooser{conn: conn, subscription: subscribed.Subscription}
	c.unhandle = conn.On(chooserEvent, func(text json.RawMessage) {
		var event openedChooser
		if json.Unmarshal(text, &event) != nil || event.Element.SharedID == "" {
			return
		}
		event.held = make(chan struct{})
		c.mu.Lock()
		c.opened = &event
		c.mu.Unlock()
		go c.hold(event) // the handler must not wait for an answer
	})
	x.choosers = c
	return nil
}

// holdTime bounds the question of hold.
const holdTime = 10 * time.Second

// hold has the browser keep the input of a chooser. The page itself often keeps none: where
// it made the input for the click alone, it is gone with the next collection of garbage.
// Its error is that of the command that puts the files in, which then finds no element.
func (c *chooser) hold(opened openedChooser) {
	defer close(opened.held)
	ctx, cancel := context.WithTimeout(context.Background(), holdTime)
	defer cancel()
	_ = c.conn.Command(ctx, "script.callFunction", map[string]any{"functionDeclaration": "(el) => el",
		"target": map[string]string{"context": opened.Context}, "awaitPromise": false, "resultOwnership": "root",
		"arguments": []any{map[string]string{"sharedId": opened.Element.SharedID}}}, nil)
}

// take returns the chooser that waits for files; nil: none has opened.
func (c *chooser) take() *openedChooser {
	c.mu.Lock()
	defer c.mu.Unlock()
	opened := c.opened
	c.opened = nil
	return opened
}

func (c *chooser) close(ctx context.Context) {
	if c == nil {
		return
	}
	c.unhandle()
	_ = c.conn.Command(ctx, "session.unsubscribe", map[string]any{"subscriptions": []string{c.subscription}}, nil)
}

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
func (x *stepExecution) chooseFiles(ctx context.Context, files []pageFile) error {
	x.screenshotter.wait(ctx)
	if x.choosers == nil {
		return stepf("the step names no element")
	}
	var opened *openedChooser
	err := x.until(ctx, chooserPoll, func() (bool, *failure, error) {
		opened = x.choosers.take()
		return opened != nil, stepf("no file chooser was opened"), nil
	})
	if err != nil {
		return err
	}
	select {
	case <-opened.held:
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
	err = stateStep{x}.timed(ctx, func(ctx context.Context) error {
		return x.choosers.conn.Command(ctx, "script.callFunction", map[string]any{"functionDeclaration": chooserScript,
			"target": map[string]string{"context": opened.Context}, "awaitPromise": false, "userActivation": true,
			"arguments": []any{map[string]string{"sharedId": opened.Element.SharedID}, map[string]string{"type": "string", "value": string(list)}}}, &got)
	})
	switch {
	case err != nil:
		return x.afterInput(ctx, err)
	case got.Type != "success":
		return stepf("the page did not take the files")
	case got.Result.Value != "":
		return stepf("%s", bounded(got.Result.Value, 100))
	}
	return nil
}
