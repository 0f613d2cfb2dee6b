package webdriver

import (
	"context"
	"encoding/json"
)

// Evaluate runs the body of a function in the top-level page, as Execute does, by the
// DevTools protocol: the remote end must be chromedriver. The function has one argument
// more, DevTools' getEventListeners. A promise is waited for, however long it takes.
func Evaluate(ctx context.Context, s *Session, script string, out any, args ...any) error {
	list, err := json.Marshal(args)
	if err != nil {
		return err
	}
	if args == nil {
		list = []byte("[]")
	}
	var result struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	expression := "(function() {" + script + "\n}).apply(window, " + string(list) +
		`.concat([typeof getEventListeners === "function" ? getEventListeners : null]))`
	err = devTools(ctx, s, "Runtime.evaluate", map[string]any{"expression": expression, "includeCommandLineAPI": true,
		"awaitPromise": true, "returnByValue": true}, &result)
	if err != nil {
		return err
	}
	if e := result.Exception; e != nil {
		return s.client.newError(0, ErrJavaScript, e.Text+" "+e.Exception.Description, "")
	}
	if out == nil || len(result.Result.Value) == 0 {
		return nil
	}
	if err := json.Unmarshal(result.Result.Value, out); err != nil {
		return s.client.newError(0, ErrJavaScript, "the script returned another shape", "")
	}
	return nil
}
