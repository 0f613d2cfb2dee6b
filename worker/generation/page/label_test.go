package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Labels in a row of a table are those of the fields in the row below; the beginning of a sentence
// above a field is none.
func TestLabelsAboveFields(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page string
		want []string
	}{
		"cells above cells": {`
			table table
				tr row @8,8,200,24
					td "First name" @10,10,93,18
					td "Street" @105,10,86,18
				tr row @8,30,200,24
					td cell @10,30,93,22
						input textbox @11,31,68,20
					td cell @105,30,86,22
						input textbox @106,31,68,20`, []string{"First name", "Street"}},
		"a sentence of two parts": {`
			p paragraph @10,10,300,18
				b "Enter" @10,10,40,18
				i "a name here" @54,10,80,18
			input textbox @11,31,68,20`, []string{""}},
		"settings with what they do": {`
			section region "Mails"
				div @10,10,400,40
					div @10,10,300,40
						p "Weekly digest" @10,10,100,18
						p "What happened in seven days" @10,30,200,18
					button switch @360,15,40,20
				div @10,60,400,40
					div @10,60,300,40
						p "Offers" @10,60,100,18
						p "News of our partners" @10,80,200,18
					button switch @360,65,40,20`, []string{"Weekly digest", "Offers"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range New(draw(c.page)).Fields {
				got = append(got, f.Label)
			}
			require.Equal(t, c.want, got)
		})
	}
}
