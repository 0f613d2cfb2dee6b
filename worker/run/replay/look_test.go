package replay_test

import (
	"context"
	"fmt"
	"image"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/looks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// shelf has the baselines and accepted findings of a test.
type shelf struct {
	mu         sync.Mutex
	baseline   *looks.Baseline
	accepted   map[string]bool
	candidates []looks.Candidate
	files      map[string]int // by kind
}

func (s *shelf) looks() *replay.Looks {
	return &replay.Looks{
		Baseline: func(context.Context, string, string, looks.Rendering) (*looks.Baseline, error) {
			return s.baseline, nil
		},
		Keep: func(_ context.Context, c looks.Candidate) (string, error) {
			s.candidates = append(s.candidates, c)
			return fmt.Sprint("candidate", len(s.candidates)), nil
		},
		Accepted: func(context.Context) (map[string]bool, error) { return s.accepted, nil },
	}
}

func (s *shelf) capture(_ context.Context, a replay.Artifact) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string]int{}
	}
	s.files[a.Kind]++
	return fmt.Sprint(a.Kind, s.files[a.Kind])
}

// play plays one step on a page.
func (s *shelf) play(t *testing.T, body string, steps ...step.Step) replay.Result {
	t.Helper()
	s.files, s.candidates = nil, nil
	base := site(t, map[string]string{"/page": body}) + "/page"
	return play(t, replay.Config{TestURL: base, Steps: steps, Looks: s.looks(), Capture: s.capture})
}

// accept makes the last candidate the accepted baseline.
func (s *shelf) accept(t *testing.T) {
	t.Helper()
	require.NotEmpty(t, s.candidates)
	c := s.candidates[len(s.candidates)-1]
	picture, err := looks.Read(c.Data)
	require.NoError(t, err)
	s.baseline = &looks.Baseline{ID: "base", State: looks.Accepted, Version: c.Rendering.Version, Fonts: c.Rendering.Fonts, Picture: picture}
}

func looksLike(selector string, args step.MatcherArgs) step.Step {
	a := step.Args{Matcher: &step.Matcher{Name: step.LooksLike, Args: args}}
	if selector != "" {
		a.Selector = css(selector)
	}
	s := do(step.Assert, a)
	s.TimeoutMS = 1500
	return s
}

const boxes = `<body style="margin:0;background:#fff"><div id=a style="width:100px;height:50px;background:#08f"></div>
	<div id=b style="width:60px;height:60px;margin-top:20px;background:%s"></div>
	<div id=long style="width:40px;height:3000px;background:linear-gradient(#f00, #00f)"></div>`

func TestLooks(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	r := s.play(t, fmt.Sprintf(boxes, "#0a0"), looksLike("", step.MatcherArgs{Name: "start"}))
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, step.LookUnreviewed, r.Records[0].Look.State)
	require.Equal(t, "candidate1", r.Records[0].Look.CandidateID)
	require.Contains(t, r.Records[0].Result.Message, "no accepted baseline")
	require.Len(t, s.candidates, 1)
	require.Equal(t, "start", s.candidates[0].Name)
	require.NotEmpty(t, s.candidates[0].Rendering.Fonts)
	require.Positive(t, s.candidates[0].Rendering.Scale)
	s.accept(t)

	// The same, though it moves at first, and in spite of a caret and an animation without end.
	moving := strings.Replace(fmt.Sprintf(boxes, "#0a0"), "<div id=b",
		`<style>@keyframes k { from { background: #f0f } to { background: #ff0 } }
		#a { animation: k 1s infinite } #b { animation: k 2s; transition: background 3s }</style><div id=b`, 1)
	for _, page := range []string{fmt.Sprintf(boxes, "#0a0"), moving} {
		r = s.play(t, page, looksLike("", step.MatcherArgs{}))
		require.Equal(t, "PASSED", r.Status, r.Message)
		require.Equal(t, step.LookMatched, r.Records[0].Look.State, r.Records[0].Result.Message)
		require.Empty(t, s.candidates)
	}

	r = s.play(t, fmt.Sprintf(boxes, "#a00"), looksLike("", step.MatcherArgs{Threshold: new(float64)}))
	require.Equal(t, "FAILED", r.Status)
	require.Equal(t, store.CodeAssertionFailed, r.Code)
	require.Contains(t, r.Message, "of the pixels differ from the baseline")
	require.Equal(t, step.LookDifferent, r.Records[0].Look.State)
	require.Equal(t, r.Message, strings.Replace(r.Records[0].Failure.Expected, " to look", ": expected to look", 1)+
		"; "+r.Records[0].Failure.Actual)
	require.InDelta(t, 3600.0/float64(r.Records[0].Look.Width*r.Records[0].Look.Height), r.Records[0].Look.Share, 1e-4)
	require.Equal(t, 1, s.files[store.Expected])
	require.Equal(t, 1, s.files[store.Actual])
	require.Equal(t, 1, s.files[store.Difference])

	// What is masked is not compared.
	r = s.play(t, fmt.Sprintf(boxes, "#a00"), looksLike("#a", step.MatcherArgs{}))
	require.Equal(t, "FAILED", r.Status)
	require.Contains(t, r.Message, "other sizes are not compared")
	masked := step.MatcherArgs{Masks: []step.Selector{{Type: step.CSS, Value: "#b"}}, Threshold: new(float64)}
	s.baseline = nil
	r = s.play(t, fmt.Sprintf(boxes, "#0a0"), looksLike("", masked))
	require.Equal(t, "PASSED", r.Status, r.Message)
	s.accept(t)
	r = s.play(t, fmt.Sprintf(boxes, "#a00"), looksLike("", masked))
	require.Equal(t, step.LookMatched, r.Records[0].Look.State, r.Message)
}

func TestLooksOfElementsAndLongPages(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	page := fmt.Sprintf(boxes, "#0a0")
	r := s.play(t, page, looksLike("#a", step.MatcherArgs{}))
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []int{100, 50}, []int{s.candidates[0].Width, s.candidates[0].Height})
	r = s.play(t, page, looksLike("#long", step.MatcherArgs{}))
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []int{40, 3000}, []int{s.candidates[0].Width, s.candidates[0].Height})
	r = s.play(t, page, looksLike("", step.MatcherArgs{FullPage: true}))
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Greater(t, s.candidates[0].Height, 3000)
	inner := `<body style="margin:0"><div style="height:2000px"></div><iframe id=f style="border:5px solid #000" srcdoc="<body ` +
		`style='margin:0'><p id=x style='margin:7px;width:30px;height:20px;background:#f80'></p>"></iframe>`
	of := looksLike("#x", step.MatcherArgs{})
	r = s.play(t, inner, frame("#f", of))
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []int{30, 20}, []int{s.candidates[0].Width, s.candidates[0].Height})
	picture, err := looks.Read(s.candidates[0].Data)
	require.NoError(t, err)
	require.Equal(t, []byte{0xff, 0x88, 0, 0xff}, picture.Pix[:4])
	require.Equal(t, []byte{0xff, 0x88, 0, 0xff}, picture.Pix[len(picture.Pix)-4:])
}

func TestLooksThatFail(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	for _, c := range []struct{ body, selector, want string }{
		{`<p>x`, "#none", "no such element"},
		{`<p class=p>x<p class=p>y`, ".p", "2 elements match"},
		{`<div id=d style="width:9px;height:9px"></div><script>let n = 0; (function f() { d.style.background = n++ % 2 ? "#f00" : "#00f"; ` +
			`requestAnimationFrame(f) })()</script>`,
			"#d", "mask what moves"},
		{`<div style="height:900000px">x</div>`, "", "cannot be compared"},
	} {
		args := step.MatcherArgs{FullPage: c.selector == ""}
		if c.selector == "#d" { // changes with each frame: two pictures may be alike by chance
			s.baseline = &looks.Baseline{ID: "b", State: looks.Accepted, Picture: white(9, 9)}
		}
		r := s.play(t, c.body, looksLike(c.selector, args))
		require.Equal(t, "FAILED", r.Status, c.body)
		if c.selector == "#d" {
			require.Regexp(t, "mask what moves|differ from the baseline", r.Message)
			continue
		}
		require.Contains(t, r.Message, c.want)
	}
	for _, one := range []step.Step{looksLike("", step.MatcherArgs{}), isAccessible(step.MatcherArgs{})} {
		r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": "x"}), Steps: []step.Step{one}})
		require.Contains(t, r.Message, "when a test is run")
	}
}

// A secret that was typed is blurred in the pictures that are stored.
func TestLooksHideSecrets(t *testing.T) {
	t.Parallel()
	value := "hunter2hunter2"
	page := `<body style="margin:0"><input id=i style="position:absolute;left:0;top:0;width:300px;height:40px;border:0;font:30px monospace">`
	picture := func(text string) string {
		s := &shelf{}
		base := site(t, map[string]string{"/": page})
		r := play(t, replay.Config{TestURL: base, Looks: s.looks(), Capture: s.capture,
			Lookup: func(step.Reference) (string, bool, bool) { return value, true, true },
			Steps:  []step.Step{input("#i", text), looksLike("#i", step.MatcherArgs{})}})
		require.Equal(t, "PASSED", r.Status, r.Message)
		return s.candidates[0].Digest
	}
	require.NotEqual(t, picture("{{password}}"), picture(value))
}

func white(width, height int) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range p.Pix {
		p.Pix[i] = 255
	}
	return p
}

func isAccessible(args step.MatcherArgs) step.Step {
	s := do(step.Assert, step.Args{Matcher: &step.Matcher{Name: step.Accessible, Args: args}})
	s.TimeoutMS = 500
	return s
}

const faulty = `<!doctype html><html lang=en><head><title>Shop</title></head><body><main><h1>Shop</h1>
	<img id=i src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" width=20 height=20>
	<x-a></x-a><script>document.querySelector("x-a").attachShadow({mode: "open"}).innerHTML = "<button id=b></button>"</script>
	<iframe title=inner srcdoc="<html lang=en><head><title>t</title></head><body><input id=deep></body></html>"></iframe></main></body></html>`

func TestAccessible(t *testing.T) {
	t.Parallel()
	s := &shelf{accepted: map[string]bool{}}
	r := s.play(t, faulty, isAccessible(step.MatcherArgs{}))
	require.Equal(t, "FAILED", r.Status, r.Message)
	require.Equal(t, store.CodeAssertionFailed, r.Code)
	found := r.Records[0].Findings
	require.NotNil(t, found)
	rules := map[string]step.Finding{}
	for _, f := range found.List {
		if f.Fails {
			rules[f.Rule] = f
		}
	}
	for rule, element := range map[string]string{"image-alt": "#i", "button-name": "x-a >> #b", "label": "iframe >> #deep"} {
		f, ok := rules[rule]
		require.True(t, ok, "%s in %+v", rule, found.List)
		require.Contains(t, f.Element, element[strings.LastIndex(element, " ")+1:])
		require.Contains(t, f.HelpURL, "https://dequeuniversity.com/rules/axe/")
		require.NotEmpty(t, f.Help)
		require.NotEmpty(t, f.FileID, rule)
		require.Contains(t, r.Message, rule)
	}
	require.Equal(t, len(rules), s.files[store.Finding])

	// What was accepted is shown, and fails nothing; the page may change around it.
	for _, f := range rules {
		s.accepted[f.Key] = true
	}
	r = s.play(t, strings.Replace(faulty, "<h1>", "<p>new</p><h1>", 1), isAccessible(step.MatcherArgs{}))
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, len(rules), r.Records[0].Findings.Accepted)
	require.Contains(t, r.Records[0].Result.Message, "accepted before")

	s.accepted = nil
	for _, c := range []struct {
		args   step.MatcherArgs
		status string
	}{
		{step.MatcherArgs{Rules: []string{"html-has-lang"}}, "PASSED"},
		{step.MatcherArgs{Rules: []string{"image-alt"}}, "FAILED"},
		{step.MatcherArgs{Tags: []string{"wcag2a"}, WithoutRules: []string{"image-alt", "button-name", "label"}}, "PASSED"},
	} {
		r = s.play(t, faulty, isAccessible(c.args))
		require.Equal(t, c.status, r.Status, "%+v: %s", c.args, r.Message)
	}
	r = s.play(t, faulty, isAccessible(step.MatcherArgs{Rules: []string{"no-such-rule"}}))
	require.Contains(t, r.Message, "no-such-rule")
	scoped := isAccessible(step.MatcherArgs{Rules: []string{"image-alt"}})
	scoped.Tool.Args.Selector = css("h1")
	r = s.play(t, faulty, scoped)
	require.Equal(t, "PASSED", r.Status, r.Message)
}

// The page has its own axe, and a policy that forbids scripts by text; both stay as they are.
func TestAccessibleLeavesNothing(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	page := `<!doctype html><html lang=en><head><title>t</title><meta http-equiv=Content-Security-Policy content="script-src 'unsafe-inline'">
		<script>window.axe = "mine"</script></head><body><main><h1>x</h1><p id=out></p>` +
		`<button id=b onclick="out.textContent = window.axe">Look</button></main></body></html>`
	r := s.play(t, page, isAccessible(step.MatcherArgs{}), click("#b"), is("#out", step.TextIs, "mine"))
	require.Equal(t, "PASSED", r.Status, r.Message)
}
