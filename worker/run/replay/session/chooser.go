package session

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/state"
)

// Chooser knows the input whose file chooser a step has opened: also one that the page
// made on the click, which no selector finds.
type Chooser struct {
	Conn         *webdriver.BiDi
	subscription string
	unhandle     func()

	mu     sync.Mutex
	opened *OpenedChooser // that no step has answered yet
}

// OpenedChooser is the event of a file chooser that has opened.
type OpenedChooser struct {
	Context  string `json:"context"`
	Multiple bool   `json:"multiple"`
	Element  struct {
		SharedID string `json:"sharedId"`
	} `json:"element"`

	Held chan struct{} `json:"-"` // closed when the browser was asked to keep the element
}

const chooserEvent = "input.fileDialogOpened"

// WatchChoosers begins to note the choosers that open in the window's user context.
func (x *Execution) WatchChoosers(ctx context.Context) error {
	conn, err := x.BiDi(ctx, "upload_file into a file chooser")
	if err != nil {
		return err
	}
	window, err := x.CurrentWindow(ctx)
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
	err = conn.Command(ctx, "session.subscribe", map[string]any{"events": []string{chooserEvent},
		"userContexts": []string{userContext}}, &subscribed)
	if webdriver.Is(err, webdriver.ErrInvalidArgument, webdriver.ErrUnsupported, webdriver.ErrUnknownCommand) {
		return failure.Stepf("upload_file into a file chooser needs the event %s of WebDriver BiDi, which this browser does not offer",
			chooserEvent)
	}
	if err != nil {
		return err
	}
	c := &Chooser{Conn: conn, subscription: subscribed.Subscription}
	c.unhandle = conn.On(chooserEvent, func(text json.RawMessage) {
		var event OpenedChooser
		if json.Unmarshal(text, &event) != nil || event.Element.SharedID == "" {
			return
		}
		event.Held = make(chan struct{})
		c.mu.Lock()
		c.opened = &event
		c.mu.Unlock()
		go c.hold(event) // the handler must not wait for an answer
	})
	x.Choosers = c
	return nil
}

// holdTime bounds the question of hold.
const holdTime = 10 * time.Second

// hold has the browser keep the input of a chooser. The page itself often keeps none: where
// it made the input for the click alone, it is gone with the next collection of garbage.
// Its error is that of the command that puts the files in, which then finds no element.
func (c *Chooser) hold(opened OpenedChooser) {
	defer close(opened.Held)
	ctx, cancel := context.WithTimeout(context.Background(), holdTime)
	defer cancel()
	_ = c.Conn.Command(ctx, "script.callFunction", map[string]any{"functionDeclaration": "(el) => el",
		"target": map[string]string{"context": opened.Context}, "awaitPromise": false, "resultOwnership": "root",
		"arguments": []any{map[string]string{"sharedId": opened.Element.SharedID}}}, nil)
}

// Take returns the chooser that waits for files; nil: none has opened.
func (c *Chooser) Take() *OpenedChooser {
	c.mu.Lock()
	defer c.mu.Unlock()
	opened := c.opened
	c.opened = nil
	return opened
}

func (c *Chooser) close(ctx context.Context) {
	if c == nil {
		return
	}
	c.unhandle()
	_ = c.Conn.Command(ctx, "session.unsubscribe", map[string]any{"subscriptions": []string{c.subscription}}, nil)
}
