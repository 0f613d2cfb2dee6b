package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

func readSnapshot(t testing.TB, path string) *snapshot.Snapshot {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var s snapshot.Snapshot
	require.NoError(t, json.Unmarshal(text, &s))
	return &s
}

// TestOutlines writes the outlines of recorded snapshots, for people to read:
// PAGE_SNAPSHOTS=folder PAGE_OUTLINES=folder.
func TestOutlines(t *testing.T) {
	in, out := os.Getenv("PAGE_SNAPSHOTS"), os.Getenv("PAGE_OUTLINES")
	if in == "" || out == "" {
		t.Skip("PAGE_SNAPSHOTS and PAGE_OUTLINES are not set")
	}
	files, err := filepath.Glob(filepath.Join(in, "*", "*.json"))
	require.NoError(t, err)
	if os.Getenv("PAGE_STEPS") != "" {
		files, err = filepath.Glob(filepath.Join(in, "*", "*", "[0-9]*.json"))
		require.NoError(t, err)
	}
	require.NoError(t, os.MkdirAll(out, 0o755))
	for _, file := range files {
		m := New(readSnapshot(t, file))
		name := filepath.Base(filepath.Dir(file)) + "-" + filepath.Base(file)
		require.NoError(t, os.WriteFile(filepath.Join(out, name+".txt"), []byte(m.Outline()), 0o644))
	}
}

// goldStep is a step of a recorded solution, with the ref of what it is done to.
type goldStep struct {
	N    int    `json:"n"`
	Near string `json:"near"`
	Tool struct {
		Type string          `json:"type"`
		Args json.RawMessage `json:"args"`
	} `json:"tool"`
}

// TestSteps counts how many elements of the steps of recorded solutions the model knows as a
// field, an option or a control: PAGE_SNAPSHOTS=folder. What it does not know is logged.
func TestSteps(t *testing.T) {
	in := os.Getenv("PAGE_SNAPSHOTS")
	if in == "" {
		t.Skip("PAGE_SNAPSHOTS is not set")
	}
	files, err := filepath.Glob(filepath.Join(in, "*", "*", "steps.json"))
	require.NoError(t, err)
	counts := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var steps []goldStep
		require.NoError(t, json.Unmarshal(text, &steps))
		for _, s := range steps {
			if s.Near == "" {
				continue
			}
			m := New(readSnapshot(t, filepath.Join(filepath.Dir(file), fmt.Sprint(s.N, ".json"))))
			how := m.knows(m.Index().ByRef(s.Near))
			counts[how]++
			pair := filepath.Base(filepath.Dir(filepath.Dir(file))) + "/" + filepath.Base(filepath.Dir(file))
			i := m.Index().ByRef(s.Near)
			title := "-"
			if r := m.RecordAt(i); r >= 0 {
				title = m.Records[r].Title
			}
			what := ""
			if k := m.ControlAt(i); k >= 0 {
				what = "control " + names(m.Controls[k].Names)
			}
			if k := m.FieldAt(i); k >= 0 {
				what += fmt.Sprintf(" field %q = %q", m.Fields[k].Names, m.Fields[k].Value)
			}
			t.Logf("SAMPLE %s %d | %s %s | <%s %q> | %s | record %q", pair, s.N, s.Tool.Type, s.Tool.Args, m.Nodes[i].Tag, m.Nodes[i].Name, what, title)
			t.Logf("%s | %s %d | %s %s | <%s %s %q> record %q", how, pair, s.N, s.Tool.Type, s.Tool.Args, m.Nodes[i].Tag, m.Nodes[i].Role, m.Nodes[i].Name, title)
		}
	}
	t.Log(counts)
}

// knows says as what a model has a node.
func (m *Model) knows(i int) string {
	inside := func(i int) string {
		for j := i + 1; j < m.index.End(i); j++ {
			if m.field[j] >= 0 || m.control[j] >= 0 {
				return "around"
			}
		}
		return ""
	}
	switch {
	case i < 0:
		return "gone"
	case m.field[i] >= 0 && m.Fields[m.field[i]].Node == i:
		return "field"
	case m.field[i] >= 0:
		return "option"
	case m.control[i] >= 0 && len(m.Controls[m.control[i]].Names) > 0:
		return "control"
	case m.control[i] >= 0:
		return "control without a name"
	}
	for up, k := i, 0; up >= 0 && k < 4; up, k = m.index.Parent(up), k+1 {
		if m.control[up] >= 0 || m.field[up] >= 0 {
			return "part"
		}
		if r := m.record[up]; r >= 0 && m.Records[r].Node == up {
			return "record"
		}
	}
	if how := inside(i); how != "" {
		return how
	}
	return "MISSING"
}
