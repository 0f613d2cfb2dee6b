package replay_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// healingPair is a page before and after a change. The step acts on the element with
// data-old; after the change it is the one with data-new, or there is none.
type healingPair struct {
	name, before, after string
	heals               bool
	action              string // click (default), fill, select, hover
}

// readPairs reads the pairs of a file: "## heal: name | action" or "## none: name",
// the body of the page before, a line "->" and that of the page after.
func readPairs(t testing.TB, path string) []healingPair {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var pairs []healingPair
	for part := range strings.SplitSeq("\n"+string(text), "\n## ") {
		head, body, _ := strings.Cut(part, "\n")
		if strings.TrimSpace(head) == "" {
			continue
		}
		kind, name, ok := strings.Cut(head, ": ")
		require.True(t, ok && (kind == "heal" || kind == "none"), "%s: %s", path, head)
		name, action, _ := strings.Cut(name, " | ")
		before, after, ok := strings.Cut(body, "\n->\n")
		require.True(t, ok, "%s: %s has no second page", path, name)
		require.Equal(t, 1, strings.Count(before, "data-old"), name)
		require.Zero(t, strings.Count(after, "data-old"), name)
		require.Equal(t, kind == "heal", strings.Contains(after, "data-new"), name)
		file := strings.TrimSuffix(filepath.Base(path), ".html")
		pairs = append(pairs, healingPair{file + ": " + name, before, after, kind == "heal", action})
	}
	require.NotEmpty(t, pairs, path)
	return pairs
}

// address is where the page of a side is shown. One that the pointer acts on by being
// there is a document of its own: the pointer stays over the page from step to step.
func (p healingPair) address(base, side string, i int) string {
	if p.action == "hover" {
		return fmt.Sprintf("%s/%s?%d#%d", base, side, i, i)
	}
	return fmt.Sprintf("%s/%s#%d", base, side, i)
}

func (p healingPair) step(print *step.Fingerprint) step.Step {
	s := &step.Selector{Type: step.CSS, Value: "[data-old]", Fingerprint: print}
	switch p.action {
	case "fill":
		return do(step.InputText, step.Args{Selector: s, Text: new(string("7"))})
	case "select":
		return do(step.Select, step.Args{Selector: s, OptionValue: new(string("Two"))})
	case "hover":
		return do(step.Hover, step.Args{Selector: s})
	}
	return do(step.Click, step.Args{Selector: s})
}

// shown is a document that shows the body of one pair after another, by the fragment of
// its address: a document of its own for each would take most of the time. What is acted
// on is reported while it happens, so that nothing is missed, and no link leads anywhere.
const shown = `<!doctype html><html lang=en><title>Pair</title><body style="margin:20px"><script>
	const bodies = %s;
	let pair = "";
	const show = (fragment) => {
		pair = fragment.slice(1);
		document.body.replaceChildren(document.createRange().createContextualFragment(bodies[pair] || ""));
		scrollTo(0, 0);
	};
	navigation.addEventListener("navigate", (e) => { if (e.hashChange) show(new URL(e.destination.url).hash) });
	for (const kind of ["click", "input", "change", "mouseover"]) addEventListener(kind, (e) => {
		if (!e.isTrusted && kind === "mouseover") return;
		const right = Boolean(e.composedPath().find((n) => n.hasAttribute && n.hasAttribute("data-new")));
		const call = new XMLHttpRequest();
		call.open("POST", "/event?page=" + location.pathname.slice(1) + "&i=" + pair + "&kind=" + kind + "&right=" + right, false);
		call.send();
	}, true);
	addEventListener("click", (e) => { if (e.target.closest && e.target.closest("a, form")) e.preventDefault(); });
	addEventListener("submit", (e) => e.preventDefault());
	show(location.hash);
</script>`

// healingServer serves the pages of pairs, and counts what happened in those after the
// change.
type healingServer struct {
	pairs        []healingPair
	mu           sync.Mutex
	right, wrong map[int]int
}

func (s *healingServer) handle(mux *http.ServeMux) {
	page := func(body func(healingPair) string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			bodies := make([]string, len(s.pairs))
			for i, p := range s.pairs {
				bodies[i] = body(p)
			}
			list, _ := json.Marshal(bodies) // it escapes what could end the script
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, shown, list)
		}
	}
	mux.HandleFunc("/before", page(func(p healingPair) string { return p.before }))
	mux.HandleFunc("/after", page(func(p healingPair) string { return p.after }))
	mux.HandleFunc("/event", func(_ http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(r.FormValue("i"))
		p, ok := healingPair{}, err == nil && r.FormValue("page") == "after"
		if ok {
			p = s.pairs[i]
		}
		if !ok || (r.FormValue("kind") == "mouseover") != (p.action == "hover") {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.FormValue("right") == "true" {
			s.right[i]++
		} else {
			s.wrong[i]++
		}
	})
}

// healingOutcome is how a pair ended.
type healingOutcome struct {
	healed, wrong bool
	message       string
}

// playPairs takes the fingerprints of all pages before the change, and then executes
// the same steps on the pages after it.
func (s *healingServer) playPairs(t *testing.T, base string, from, to int) []healingOutcome {
	var first []step.Step
	for i := from; i < to; i++ {
		first = append(first, open(s.pairs[i].address(base, "before", i)), s.pairs[i].step(nil))
	}
	r := play(t, replay.Config{Steps: first})
	if r.Status != "PASSED" {
		require.FailNow(t, "a page before its change", "%s: %s", s.pairs[from+len(passed(r))/2].name, r.Message)
	}
	var second []step.Step
	for i := from; i < to; i++ {
		print, ok := r.Fingerprints[fmt.Sprintf("s%d", 2*(i-from)+2)]
		require.True(t, ok, "%s has no fingerprint", s.pairs[i].name)
		second = append(second, open(s.pairs[i].address(base, "after", i)), optional(within(200, s.pairs[i].step(&print))))
	}
	r = play(t, replay.Config{Steps: second, Healing: capability.HealApply})
	require.Equal(t, "PASSED", r.Status, r.Message)
	var outcomes []healingOutcome
	for i := from; i < to; i++ {
		record := r.Records[2*(i-from)+1]
		s.mu.Lock()
		right, wrong := s.right[i], s.wrong[i]
		s.mu.Unlock()
		outcomes = append(outcomes, healingOutcome{record.Healed != nil && right > 0 && wrong == 0, wrong > 0 ||
			!s.pairs[i].heals && record.Healed != nil, record.Result.Message})
	}
	return outcomes
}

func passed(r replay.Result) []playback.Record {
	var list []playback.Record
	for _, record := range r.Records {
		if record.Status == playback.Passed {
			list = append(list, record)
		}
	}
	return list
}

// TestHealingSet is the whole set: no step may act on another element than the one
// that it was recorded with, and nine of ten of those that a person would still find
// are found. The pairs of holdout files were written after the rules.
func TestHealingSet(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/healing/*.html")
	require.NoError(t, err)
	s := &healingServer{right: map[int]int{}, wrong: map[int]int{}}
	for _, path := range files {
		s.pairs = append(s.pairs, readPairs(t, path)...)
	}
	base := site(t, nil, s.handle)
	outcomes := make([]healingOutcome, len(s.pairs))
	t.Run("all", func(t *testing.T) {
		for i := range browsers {
			from, to := i*len(s.pairs)/browsers, (i+1)*len(s.pairs)/browsers
			t.Run(fmt.Sprint(from), func(t *testing.T) {
				t.Parallel()
				copy(outcomes[from:], s.playPairs(t, base, from, to))
			})
		}
	})
	type figures struct{ heal, healed, none, wrong int }
	sums := map[bool]*figures{false: {}, true: {}} // by whether it is of a holdout file
	for i, p := range s.pairs {
		f, o := sums[strings.HasPrefix(p.name, "holdout")], outcomes[i]
		if o.wrong {
			f.wrong++
			t.Errorf("%s: acted on another element (%s)", p.name, o.message)
		}
		switch {
		case !p.heals:
			f.none++
		case o.healed:
			f.heal++
			f.healed++
		default:
			f.heal++
			t.Logf("%s: not healed: %s", p.name, o.message)
		}
	}
	for holdout, f := range sums {
		t.Logf("holdout %t: %d of %d healed, %d others left alone, %d wrong elements", holdout, f.healed, f.heal, f.none, f.wrong)
		if f.heal > 0 {
			require.GreaterOrEqual(t, 10*f.healed, 9*f.heal, "nine of ten must be found")
		}
	}
	require.GreaterOrEqual(t, len(s.pairs), 300)
}
