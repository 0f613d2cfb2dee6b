package webdriver

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func testClient(t testing.TB) *Client {
	t.Helper()
	c, err := New(Config{URL: "http://robot:s3cr+t%2Fpass@hub.example/wd/hub"})
	require.NoError(t, err)
	return c
}

func TestErrorsOfResponses(t *testing.T) {
	t.Parallel()
	const noisy = `no such element: Unable to locate element: {\"method\":\"css selector\",` +
		`\"selector\":\"#x\"}\n  (Session info: chrome=156.0.8078.79)\nStacktrace:\n#0 0x55d0c <unknown>\n`
	tests := []struct {
		name    string
		status  int
		body    string
		code    string // of an *Error; "" for a *TransportError
		message string
	}{
		{"chromedriver", 404, `{"value":{"error":"no such element","message":"` + noisy + `","stacktrace":"#0 0x55d0c"}}`,
			ErrNoSuchElement, `Unable to locate element: {"method":"css selector","selector":"#x"}`},
		{"native stack first", 500,
			`{"value":{"error":"unknown error","message":"unknown error: net::ERR_CONNECTION_REFUSED\n#0 0x5567 <unknown>\n#1 0x99"}}`,
			ErrUnknown, "net::ERR_CONNECTION_REFUSED"},
		{"cause is kept", 404, `{"value":{"error":"no such window",` +
			`"message":"no such window: target window already closed\nfrom unknown error: web view not found\n  (Session info: chrome=156)"}}`,
			ErrNoSuchWindow, "target window already closed\nfrom unknown error: web view not found"},
		{"Selenium's build", 500,
			`{"value":{"error":"session not created",` +
				`"message":"Could not start a new session.\nHost info: host: 'n', ip: '10.0.0.9'\nBuild info: version: '4.21'"}}`,
			ErrSessionNotCreated, "Could not start a new session."},
		{"frames of a stack", 500, `{"value":{"error":"javascript error","message":"boom\n    at foo (x.js:1:2)\n    at bar"}}`,
			ErrJavaScript, "boom"},
		{"stack as a list", 500, `{"value":{"error":"unknown error","message":"m","stacktrace":[{"line":1}]}}`, ErrUnknown, "m"},
		{"no message", 500, `{"value":{"error":"timeout"}}`, ErrTimeout, ""},
		{"legacy number", 500,
			`{"sessionId":"s","status":7,"value":{"message":"An element could not be located","class":"org.openqa.NoSuchElementException"}}`,
			ErrNoSuchElement, "An element could not be located"},
		{"legacy number with 200", 200, `{"status":10,"value":{"message":"gone"}}`, ErrStaleElement, "gone"},
		{"legacy number without a name", 500, `{"status":999,"value":{"message":"odd"}}`, ErrUnknown, "odd"},
		{"message only", 500, `{"value":{"message":"An unknown server-side error occurred"}}`, ErrUnknown,
			"An unknown server-side error occurred"},
		{"message only, no command", 404, `{"value":{"message":"The URL did not map"}}`, ErrUnknownCommand, "The URL did not map"},
		{"value is the message", 500, `{"value":"it broke"}`, ErrUnknown, "it broke"},
		{"outside of a value", 500, `{"error":"session not created","message":"no node"}`, ErrSessionNotCreated, "no node"},
		{"passwords of proxies", 500, `{"value":{"error":"session not created","message":"proxy http://u:pw@proxy:1 failed for s3cr+t/pass"}}`,
			ErrSessionNotCreated, "proxy http://*****@proxy:1 failed for *****"},
		{"somebody between", 404, `{"timestamp":1,"status":404,"error":"Not Found","path":"/session"}`, "", "webdriver: status 404: Not Found"},
		{"HTML", 502, "<html><head><title>502 Bad Gateway</title><style>b{}</style></head><body><h1>502&nbsp;Bad Gateway</h1>\n" +
			"<script>track(1)</script>nginx</body></html>",
			"", "webdriver: status 502: no WebDriver answer: 502 Bad Gateway 502 Bad Gateway nginx"},
		{"HTML that shows the password", 401, "<p>robot:s3cr+t/pass and cm9ib3Q6czNjcit0L3Bhc3M= are wrong</p>", "",
			"webdriver: status 401: no WebDriver answer: robot:***** and ***** are wrong"},
		{"text", 404, "404 page not found\n", "", "webdriver: status 404: no WebDriver answer: 404 page not found"},
		{"200 of a portal", 200, "<title>Log in</title>", "", "webdriver: status 200: no WebDriver answer: Log in"},
		{"nothing", 500, "", "", "webdriver: status 500: no WebDriver answer"},
		{"empty object", 500, "{}", "", "webdriver: status 500: no WebDriver answer"},
		{"null value", 500, `{"value":null}`, "", "webdriver: status 500: an error without code and message"},
		{"redirect", 302, "<a href=x>moved</a>", "", "webdriver: status 302: a redirect, which is refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := testClient(t).readResponse(tt.status, []byte(tt.body), nil)
			if tt.code == "" {
				var te *TransportError
				require.ErrorAs(t, err, &te)
				require.Equal(t, tt.status, te.Status)
				require.Equal(t, tt.message, te.Error())
				return
			}
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.status, e.Status)
			require.Equal(t, tt.code, e.Code)
			require.Equal(t, tt.message, e.Message)
			require.True(t, Is(err, ErrInvalidArgument, tt.code))
			require.False(t, Is(err, ErrInvalidArgument))
		})
	}
}

func TestValuesOfResponses(t *testing.T) {
	t.Parallel()
	c := testClient(t)
	var s string
	require.NoError(t, c.readResponse(200, []byte(`{"value":"x"}`), &s))
	require.Equal(t, "x", s)
	require.NoError(t, c.readResponse(200, []byte(`{"sessionId":"q","status":0,"value":"y"}`), &s), "a legacy success")
	require.Equal(t, "y", s)
	for _, empty := range []string{"", " \n", `{}`, `{"value":null}`} {
		require.NoError(t, c.readResponse(200, []byte(empty), nil), "%q", empty)
	}
	for _, bad := range []string{"", `{}`, `{"value":7}`, `[]`} {
		var te *TransportError
		require.ErrorAs(t, c.readResponse(200, []byte(bad), &s), &te, "%q", bad)
	}
}

func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100_000)
	doc, err := json.Marshal(map[string]any{"value": map[string]string{"error": "x" + long, "message": long, "stacktrace": long}})
	require.NoError(t, err)
	var e *Error
	require.ErrorAs(t, testClient(t).readResponse(500, doc, nil), &e)
	require.LessOrEqual(t, len(e.Message), maxText)
	require.Greater(t, len(e.Message), maxText-4)
	require.LessOrEqual(t, len(e.StackTrace), maxText)
	require.LessOrEqual(t, len(e.Code), maxCode)
	require.Less(t, len(testClient(t).readResponse(500, []byte(long), nil).Error()), 400)
}

func TestReferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, doc string
		want      Element
		fails     bool
	}{
		{"standard", `{"element-6066-11e4-a52e-4f735466cecf":"e1","other":[1]}`, "e1", false},
		{"legacy", `{"ELEMENT":"e2"}`, "e2", false},
		{"null", `null`, "", false},
		{"another object", `{"a":1}`, "", true},
		{"number", `4`, "", true},
		{"endless", `{"ELEMENT":"` + strings.Repeat("x", maxID+1) + `"}`, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var e Element
			err := json.Unmarshal([]byte(tt.doc), &e)
			require.Equal(t, tt.fails, err != nil, "%v", err)
			require.Equal(t, tt.want, e)
		})
	}
	doc, err := json.Marshal(Element("e"))
	require.NoError(t, err)
	require.JSONEq(t, `{"element-6066-11e4-a52e-4f735466cecf":"e"}`, string(doc))
}

func TestIDsAreOnePathSegment(t *testing.T) {
	t.Parallel()
	require.Equal(t, "%2E%2E", pathSegment(".."))
	require.Equal(t, "a%2F..%2Fb%3Fc%23d", pathSegment("a/../b?c#d"))
	require.Equal(t, "f.A-1.e2", pathSegment("f.A-1.e2"))
}

// FuzzReadResponse feeds bodies of remote ends: the result is nil, an *Error or a
// *TransportError, and no text is longer than its bound or shows the password.
func FuzzReadResponse(f *testing.F) {
	for _, seed := range []string{
		`{"value":null}`, `{"value":{"error":"no such element","message":"m\n  (Session info: x)","stacktrace":[]}}`,
		`{"status":7,"value":{"message":"x"}}`, `{"error":"timeout"}`, `<html><script>`, ``, `{"value":"s3cr+t/pass"}`,
		`{"value":{"element-6066-11e4-a52e-4f735466cecf":"1"}}`, "{\"value\":{\"error\":\"\xff\"}}", `http://a:b@c`,
	} {
		f.Add(500, []byte(seed), false)
		f.Add(200, []byte(seed), true)
	}
	c := testClient(f)
	f.Fuzz(func(t *testing.T, status int, body []byte, want bool) {
		var out any
		if want {
			out = new(Element)
		}
		err := c.readResponse(status, body, out)
		if err == nil {
			if status < 200 || status > 299 {
				t.Fatalf("status %d is no success", status)
			}
			return
		}
		var e *Error
		var te *TransportError
		if !errors.As(err, &e) && !errors.As(err, &te) {
			t.Fatalf("an error of type %T", err)
		}
		if len(err.Error()) > maxText+maxCode+100 {
			t.Fatalf("a text of %d bytes", len(err.Error()))
		}
		if strings.Contains(err.Error(), "s3cr+t/pass") {
			t.Fatalf("the password is shown: %s", err)
		}
	})
}
