package crash

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/report"
)

const (
	// DefaultDuplicates bounds how many occurrences one report may stand for, unless
	// a setting says otherwise. Clients fold the repeats of some minutes; with a
	// higher bound one forged report outweighs a thousand true ones.
	DefaultDuplicates = 100
	// MaxDuplicates is the highest bound: counts of a group stay far below 2^63.
	MaxDuplicates = 1_000_000
)

// duplicates reads how many occurrences the report stands for: some clients
// fold repeats into one report (attribute _mod_duplicate).
func duplicates(r *report.Report) int {
	n, err := strconv.Atoi(r.Attribute("_mod_duplicate"))
	if n < 1 || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 1
	}
	return min(n, MaxDuplicates)
}

// attributes returns all attributes of the report, whose number the receiver has
// bounded, as the JSON object that is searched. Numbers that PostgreSQL could
// refuse become text.
func attributes(r *report.Report) string {
	out := make([]byte, 0, 64*len(r.Attributes)+2)
	out = append(out, '{')
	for i := range r.Attributes {
		a := &r.Attributes[i]
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = report.AppendText(out, condition.IndexedKey(a.Key))
		out = append(out, ':')
		switch v := a.Value.(type) {
		case nil:
			out = append(out, "null"...)
		case bool:
			out = strconv.AppendBool(out, v)
		case json.Number:
			if plainNumber(string(v)) {
				out = append(out, v...)
			} else {
				out = report.AppendText(out, condition.IndexedValue(string(v)))
			}
		default:
			out = report.AppendText(out, condition.IndexedValue(a.Text()))
		}
	}
	return string(append(out, '}'))
}

// plainNumber reports whether a number keeps its value as PostgreSQL's numeric
// without becoming a megabyte of zeros, before the point or behind it: numeric
// refuses more than 16,383 digits there.
func plainNumber(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || len(s) > 40 {
		return false
	}
	f = math.Abs(f)
	return f < 1e40 && (f > 1e-40 || !strings.ContainsAny(s, "eE"))
}
