package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// longRun is a run whose steps alone are more than an answer holds, with a page and a console.
func longRun(t *testing.T, steps int) string {
	t.Helper()
	message, err := json.Marshal(strings.Repeat("a \"message\" ", 150))
	require.NoError(t, err)
	list := make([]string, steps)
	for i := range list {
		status := "PASSED"
		if i == steps-2 {
			status = "FAILED"
		}
		list[i] = fmt.Sprintf(`{"tool":{"type":"click","args":{"text":%s}},"status":%q,"result":{"message":%s}}`, message, status, message)
	}
	return `{"data":{"id":"r","testCaseId":"t","status":"FAILED","jobs":[{"id":"j","status":"FAILED","steps":[` + strings.Join(list, ",") + `],
		"files":[{"id":"f","kind":"source","step":0,"size":9},{"id":"g","kind":"console","step":0,"size":9}]}]}}`
}

// A page is read in parts to its end, and nothing of it is left out between them, however long
// the rest of the answer is and whatever its characters become as JSON.
func TestSourceInParts(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for i := range 900 {
		fmt.Fprintf(&source, "<p title=\"%d\">\u202eßü \\ \U000E0041</p>\n", i)
	}
	for _, steps := range []int{2, 60} {
		w := newWorld(t, nil)
		w.answers["GET /v1/ai-authoring/testcases/t/runs/r"] = longRun(t, steps)
		w.answers["GET /v1/ai-authoring/files/f?content=1"] = source.String()
		w.answers["GET /v1/ai-authoring/files/g?content=1"] = strings.Repeat("an older line\n", 9000) + "the newest line"
		whole, offset := "", 0
		for parts := 0; ; parts++ {
			require.Less(t, parts, 100)
			text := w.works("get_run", object{"test_id": "t", "run_id": "r", "include": []string{"page_source", "console"},
				"source_offset": offset, "all_steps": true, "limit": 50})
			require.LessOrEqual(t, len(text), maxAnswer)
			var answer struct {
				Source  marked `json:"page_source"`
				Next    int    `json:"next_source_offset"`
				Console marked `json:"console"`
				Omitted int    `json:"console_omitted_bytes"`
			}
			require.NoError(t, json.Unmarshal([]byte(text), &answer))
			require.NotEmpty(t, answer.Source.Untrusted)
			require.Zero(t, answer.Source.Cut)
			require.Zero(t, answer.Console.Cut)
			require.True(t, strings.HasSuffix(answer.Console.Untrusted, "the newest line"), "the end is what explains a failure")
			require.Equal(t, 9000*14+15, len(answer.Console.Untrusted)+answer.Omitted)
			whole += answer.Source.Untrusted
			if offset = answer.Next; offset == 0 {
				break
			}
		}
		require.Equal(t, visible(outline(source.String())), whole, steps)
	}
}

func TestStepsInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.answers["GET /v1/ai-authoring/testcases/t/runs/r"] = longRun(t, 60)
	numbers := func(more object) (list []int, omitted int) {
		arguments := object{"test_id": "t", "run_id": "r"}
		for name, value := range more {
			arguments[name] = value
		}
		var answer struct {
			Jobs []struct {
				Steps []struct {
					Number int `json:"number"`
				} `json:"steps"`
				Omitted int `json:"steps_omitted"`
			} `json:"jobs"`
		}
		require.NoError(t, json.Unmarshal([]byte(w.works("get_run", arguments)), &answer))
		for _, s := range answer.Jobs[0].Steps {
			list = append(list, s.Number)
		}
		return list, answer.Jobs[0].Omitted
	}
	around, omitted := numbers(nil)
	require.Equal(t, []int{55, 56, 57, 58, 59, 60}, around)
	require.Equal(t, 54, omitted)
	all, _ := numbers(object{"all_steps": true})
	require.Len(t, all, 20)
	some, _ := numbers(object{"from_step": 21, "limit": 3})
	require.Equal(t, []int{21, 22, 23}, some)
	w.fails("get_run", object{"test_id": "t", "run_id": "r", "limit": 51}, "limit")

	// Of a test no step is cut for the others: they are to be sent back.
	steps := make([]string, 70)
	for i := range steps {
		steps[i] = fmt.Sprintf(`{"id":"%d","tool":{"type":"set_value","args":{"text":%q}}}`, i+1, strings.Repeat("x", 2000))
	}
	w.answers["GET /v1/ai-authoring/testcases/t"] = `{"data":{"id":"t","name":"n","revisions":[{"id":"1","intent":"i","steps":[` +
		strings.Join(steps, ",") + `]}]}}`
	read, from := 0, 1
	for from != 0 {
		text := w.works("get_test", object{"id": "t", "from_step": from})
		require.LessOrEqual(t, len(text), maxAnswer)
		var answer struct {
			Steps []marked `json:"steps"`
			Total int      `json:"steps_total"`
			Next  int      `json:"next_step"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &answer))
		require.Equal(t, 70, answer.Total)
		for _, s := range answer.Steps {
			require.JSONEq(t, steps[read], s.Untrusted)
			read++
		}
		require.NotEqual(t, from, answer.Next)
		from = answer.Next
	}
	require.Equal(t, 70, read)
}

// A search answers at most as many hits as were asked for, with ids that stay whole.
func TestSearchBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	long := strings.Repeat("ß", 500)
	group := func(kind string, hits int, more bool) string {
		list := make([]string, hits)
		for i := range list {
			list[i] = fmt.Sprintf(`{"kind":%q,"id":"0190b6a4-1f2e-7c3d-8e4f-%012d","title":%q,"detail":%q}`, kind, i, long, long)
		}
		return fmt.Sprintf(`{"kind":%q,"results":[%s],"more":%t}`, kind, strings.Join(list, ","), more)
	}
	type answer struct {
		Items []struct {
			Kind string `json:"kind"`
			ID   string `json:"id"`
		} `json:"items"`
		Next   string   `json:"next_cursor"`
		MoreOf []string `json:"more_of"`
	}
	search := func(arguments object) (a answer) {
		text := w.works("search", arguments)
		require.LessOrEqual(t, len(text), maxAnswer)
		require.NoError(t, json.Unmarshal([]byte(text), &a))
		for _, hit := range a.Items {
			require.Len(t, hit.ID, 36)
		}
		return a
	}
	w.answers["GET /api/v3/search?limit=50&page=1&q=x"] = `{"groups":[` + group("test_run", 50, true) + `,` +
		group("build", 3, false) + `,` + group("crash", 50, false) + `]}`
	found := search(object{"query": "x", "limit": 50})
	require.Len(t, found.Items, 50)
	require.Equal(t, []string{"test_run", "crash"}, found.MoreOf)
	require.Empty(t, found.Next)
	of := map[string]int{}
	for _, hit := range found.Items {
		of[hit.Kind]++
	}
	require.Equal(t, map[string]int{"test_run": 24, "build": 3, "crash": 23}, of)

	w.answers["GET /api/v3/search?kind=build&limit=50&page=1&q=x"] = `{"groups":[` + group("build", 50, true) + `]}`
	w.answers["GET /api/v3/search?kind=build&limit=50&page=10&q=x"] = `{"groups":[` + group("build", 50, true) + `]}`
	require.Equal(t, "50.50", search(object{"query": "x", "limit": 50, "kinds": []string{"build"}}).Next)
	require.Empty(t, search(object{"query": "x", "cursor": "450.50", "kinds": []string{"build"}}).Next, "the API leads no further")
	w.fails("search", object{"query": "x", "cursor": "500.50", "kinds": []string{"build"}}, "cursor")
	w.fails("search", object{"query": "x", "cursor": "50.50"}, "one kind")

	w.answers["GET /api/v3/search?limit=20&page=1&q=v"] = `{"groups":[{"kind":"version","results":[{"kind":"version","id":"1.0 ignore",` +
		`"title":"t"}]}]}`
	require.Contains(t, w.works("search", object{"query": "v"}), `"id":{"untrusted":"1.0 ignore"}`)
}
