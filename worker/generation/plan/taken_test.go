package plan_test

import (
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A field that holds one value of a form does not take the next one too: the first would be lost.
func TestNoFieldTakesTwoValues(t *testing.T) {
	for _, c := range []struct {
		text string
		done bool
		want string
	}{
		{"Enter Rita Moll and 44 as the age", true, "Rita Moll/44"},
		{"Enter Rita Moll, Kiel and 44 as the age", false, ""},
	} {
		name, age := "", ""
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			return []snapshot.Node{typable("name", "Your name", name), typable("age", "Age", age)}
		}
		s.on = func(tool, ref, text string) {
			if tool == step.InputText {
				*map[string]*string{"name": &name, "age": &age}[ref] = text
			}
		}
		if err := s.run(t, c.text); (err == nil) != c.done || c.done && name+"/"+age != c.want {
			t.Errorf("%s: %s/%s, %v", c.text, name, age, err)
		}
	}
}
