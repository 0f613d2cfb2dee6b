package body_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage"
)

// selfRead is a type that reads itself, whose errors count from its own beginning.
type selfRead struct{ list []string }

func (s *selfRead) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &s.list) }

type placed struct {
	Names []string `json:"names"`
	Rows  []struct {
		Deep [][]int64 `json:"deep"`
		Text string    `json:"text"`
	} `json:"rows"`
	Own selfRead `json:"own"`
	embedded
}

type embedded struct {
	Seconds int   `json:"seconds"`
	Sizes   []int `json:"sizes"`
}

func TestPlaceOfAWrongType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"names":[1]}`: "names[0]",
		`{"x":[{"y":[1,"]"]}], "names" : ["a","]", 7]}`:  "names[2]",
		`{"names":["a",["b"]]}`:                          "names[1]",
		`{"names":["a",{"b":1}]}`:                        "names[1]",
		`{"names":{}}`:                                   "names",
		`{"names":true}`:                                 "names",
		`{"rows":[{"text":"a"},{"deep":[[1],[2,"3"]]}]}`: "rows[1].deep[1][1]",
		`{"rows":[{"text":"a"},{"text":[]}]}`:            "rows[1].text",
		`{"rows":[{},[]]}`:                               "rows[1]",
		`{"NAMES":[1]}`:                                  "names",
		`{"names":["aaaaaaaa"],"own":[1]}`:               "own",
		`{"names":["a"],"seconds":"x"}`:                  "seconds",
		`{"sizes":[1,"x"]}`:                              "sizes[1]",
	} {
		var into placed
		err := read(t, body.TypeJSON, text, &into)
		var invalid *storage.InvalidError
		require.True(t, errors.As(err, &invalid), "%s: %v", text, err)
		require.Equal(t, want, invalid.Field, text)
	}
}
