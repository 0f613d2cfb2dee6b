package testfile

import (
	"fmt"
	"strings"
)

const (
	// diffContext is how many lines around a change are shown.
	diffContext = 3
	// maxTable bounds the table that two texts are compared by, in cells of four bytes.
	maxTable = 4 << 20
)

// Diff returns what leads from one text to another as a unified diff, "" when they are
// equal. Two long texts that have little in common are shown one after the other.
func Diff(from, to string) string {
	if from == to {
		return ""
	}
	a, b := strings.SplitAfter(from, "\n"), strings.SplitAfter(to, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var pairs [][2]int
	for i := range head {
		pairs = append(pairs, [2]int{i, i})
	}
	inA, inB := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(inA)*len(inB) <= maxTable {
		for _, p := range common(inA, inB) {
			pairs = append(pairs, [2]int{p[0] + head, p[1] + head})
		}
	}
	for i := range tail {
		pairs = append(pairs, [2]int{len(a) - tail + i, len(b) - tail + i})
	}
	return hunks(a, b, append(pairs, [2]int{len(a), len(b)}))
}

// edit is a line of a diff.
type edit struct {
	mark byte // ' ', '-', '+'
	text string
	a, b int // its place, from 0
}

// hunks writes the changes with the lines around them.
func hunks(a, b []string, pairs [][2]int) string {
	var edits []edit
	i, k := 0, 0
	for _, p := range pairs {
		for ; i < p[0]; i++ {
			edits = append(edits, edit{'-', a[i], i, k})
		}
		for ; k < p[1]; k++ {
			edits = append(edits, edit{'+', b[k], i, k})
		}
		if i < len(a) && k < len(b) {
			edits = append(edits, edit{' ', a[i], i, k})
			i, k = i+1, k+1
		}
	}
	var out strings.Builder
	for at := 0; at < len(edits); {
		if edits[at].mark == ' ' {
			at++
			continue
		}
		begin, end := max(0, at-diffContext), at
		for next := at; next < len(edits) && next <= end+2*diffContext; next++ {
			if edits[next].mark != ' ' {
				end = next
			}
		}
		end = min(len(edits), end+1+diffContext)
		writeHunk(&out, edits[begin:end])
		at = end
	}
	return out.String()
}

func writeHunk(out *strings.Builder, edits []edit) {
	var lines strings.Builder
	ofA, ofB := 0, 0
	for _, e := range edits {
		if e.text == "" {
			continue // behind the last end of a line
		}
		if e.mark != '+' {
			ofA++
		}
		if e.mark != '-' {
			ofB++
		}
		lines.WriteByte(e.mark)
		lines.WriteString(strings.TrimSuffix(e.text, "\n") + "\n")
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n%s", edits[0].a+1, ofA, edits[0].b+1, ofB, lines.String())
}
