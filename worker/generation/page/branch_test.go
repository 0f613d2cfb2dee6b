package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The list of a branch is called by the text of its item, unless that says more than one thing.
func TestBranchTitle(t *testing.T) {
	t.Parallel()
	m := New(draw(`
		ul list
			li listitem @20,40,400,124
				span "-" reacts=listener @20,40,14,20
				span "Pictures" @34,40,90,20
				div @30,60,400,100
					ul list @30,60,400,100
						li listitem @40,70,400,80
							span "-" reacts=listener @40,70,14,20
							span "Holiday" @54,70,90,20
							ul list @60,90,400,50
								li listitem @60,90,400,24
									span "beach.png" @60,90,90,20
			li listitem @20,180,400,24
				span "Ann" @20,180,90,20
				span "Good morning" @120,180,90,20
				ul list @30,210,400,50
					li listitem @30,210,400,24
						span "Bo" @30,210,90,20`))
	var titles []string
	for i := range m.Containers {
		if m.Containers[i].Kind == "list" {
			titles = append(titles, m.Containers[i].Title)
		}
	}
	require.Equal(t, []string{"", "Pictures", "Holiday", ""}, titles)
}
