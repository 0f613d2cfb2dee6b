package testcase

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// requireRefusal: what strangers send is either taken or refused with a 4xx that
// says why.
func requireRefusal(t *testing.T, err error) {
	t.Helper()
	p := respond.Explain(problem.Coded(err, problem.TestCase))
	if p.Status >= http.StatusInternalServerError || p.Text == "" {
		t.Fatalf("answered with %d %q: %v", p.Status, p.Text, err)
	}
}

func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","steps":[{"tool":{"type":"click","args":{"selector":"#a"}}}]}`,
		`{"name":"a","runSettings":{"target":{"capabilities":{"browserName":"b"}}},"steps":[]}`,
		`{"name":"a","runSettings":{"primaryTarget":{"capabilities":{}},"runTargets":[{"capabilities":{"a:b":[1]}}]},` +
			`"steps":[{"tool":{"type":"go_to_url","args":{"url":"//x"}}}]}`,
		`{"name":"a","side":{"url":"http://x","tests":[{"id":"1","name":"t","commands":[{"command":"open","target":"/"}]}]}}`,
		`{"name":"a","side":"{\"tests\":[]}"}`, `{"name":"a","steps":[{"tool":{"args":{"matcher":{"args":{"value":[]}}}}}]}`, `[`, ``,
	} {
		f.Add(seed)
	}
	h := Cases{&handler.Base{Config: handler.Config{CheckURL: func(_ context.Context, address string) error {
		if _, err := url.Parse(address); err != nil {
			return errors.New("cannot be read")
		}
		return nil
	}}}}
	f.Fuzz(func(t *testing.T, text string) {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(text))
		n, _, err := h.readImport(c)
		if err != nil {
			requireRefusal(t, err)
			return
		}
		for i, s := range n.Revision.Steps {
			if s.ID == "" || s.Tool.Type == "" || s.Result != nil || s.ScreenshotID != "" {
				t.Fatalf("step %d: %+v", i, s)
			}
		}
	})
}

// FuzzCaseChange: what is read of a change is text that can be stored, and settings
// that are put over others are those of a case that was imported with them.
func FuzzCaseChange(f *testing.F) {
	for _, seed := range []string{`{}`, `{"name":"a","tags":null,"runSettings":null,"steps":[]}`,
		`{"tags":["a"],"steps":[{"id":"a","tool":{"type":"finish"}}]}`,
		`{"runSettings":{"testUrl":null,"target":null,"strict":false,"healing":"off","runTargets":[{"capabilities":{"a":1}}]}}`,
		`{"runSettings":{"primaryTarget":{"capabilities":{}},"RUNTARGETS":null}}`, "{\"name\":\"\xff\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(text))
		var in caseBody
		if err := request.Read(c, &in, request.NewWords(Vocabulary())); err != nil {
			requireRefusal(t, err)
			return
		}
		if !utf8.ValidString(text) {
			t.Fatal("wrong bytes were read")
		}
		change, _, err := in.read(capability.CheckTarget)
		if err != nil {
			requireRefusal(t, err)
			return
		}
		if change.Settings == nil {
			return
		}
		once := change.Settings(capability.RunSettings{})
		if twice := change.Settings(once); !reflect.DeepEqual(once, twice) {
			t.Fatalf("%+v, and again %+v", once, twice)
		}
	})
}
