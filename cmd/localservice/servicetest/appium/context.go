package appium

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
)

// nativeContext is the context of the app itself.
const nativeContext = "NATIVE_APP"

// enterContext makes a context current.
func (a *App) enterContext(body map[string]any) *protocolError {
	if failed := exact(body, []string{"name"}, nil); failed != nil {
		return failed
	}
	name := text(body["name"])
	if name != nativeContext && a.WebViews[name] == "" {
		return fail(http.StatusNotFound, "no such context", "there is no context %s", name)
	}
	a.context = name
	return nil
}

func (a *App) contexts() []string {
	list := []string{nativeContext}
	for name := range a.WebViews {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// onAlert executes a command on the dialog, or refuses others while there is one.
func (a *App) onAlert(command string, _ map[string]any) (value any, failed *protocolError, done bool) {
	switch {
	case strings.HasSuffix(command, " alert/text") || strings.HasSuffix(command, " alert/accept") ||
		strings.HasSuffix(command, " alert/dismiss"):
		if a.Alert == "" {
			return nil, fail(http.StatusNotFound, "no such alert", "there is none"), true
		}
		if strings.HasPrefix(command, "GET") {
			return a.Alert, nil, true
		}
		a.Alert = ""
		return nil, nil, true
	case a.Alert != "":
		return nil, fail(http.StatusInternalServerError, "unexpected alert open", "%s", a.Alert), true
	}
	return nil, nil, false
}

// ofDevice are the commands that Appium does not send to a web view.
var ofDevice = []string{"context", "contexts", "orientation", ""}

// proxied sends a command in a web view to its session.
func (a *App) proxied(w http.ResponseWriter, r *http.Request) bool {
	a.mu.Lock()
	address, path := a.WebViews[a.context], strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 3)
	a.mu.Unlock()
	if address == "" || len(path) < 3 || slices.Contains(ofDevice, path[2]) {
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || strings.Contains(string(body), `"mobile: `) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		return false
	}
	forward, err := http.NewRequestWithContext(r.Context(), r.Method, address+"/"+path[2], bytes.NewReader(body))
	if err != nil {
		return false
	}
	forward.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	answer, err := http.DefaultClient.Do(forward)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body) // the client sees that it is cut
	return true
}
