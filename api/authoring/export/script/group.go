package script

import (
	"fmt"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
)

func (c *Case) place(i int) group.Place {
	if i >= len(c.Places) {
		return group.Place{}
	}
	return c.Places[i]
}

// opens reports whether a step, or the first one in the groups that begin with it, opens an
// address itself.
func (c *Case) opens(i int) bool {
	for ; i < len(c.Steps); i++ {
		if c.Steps[i].Tool.Type != step.RunGroup {
			return c.Steps[i].Tool.Type == step.GoToURL
		}
	}
	return false
}

// openCase opens the address of the case before a step that needs the page.
func (s *Script) openCase(c *Case, i, first int) {
	if i == first && len(s.Base) > 0 && !c.opens(i) {
		s.Moves = append(s.Moves, Move{Tool: &step.Tool{Type: step.GoToURL}, URL: s.Base})
	}
}

// openGroup is a step group whose steps are being read.
type openGroup struct {
	end      int
	optional bool
	closes   bool
}

// readAll reads the steps of a case into moves. What is behind the end of the test is left
// out, up to the steps after it.
func (s *Script) readAll(c *Case) error {
	var open []openGroup
	ended, part, first, inFunction := false, 0, group.FirstOnPage(c.Steps, c.Places), 0
	for i := range c.Steps {
		if i < inFunction {
			continue
		}
		open = s.close(open, i)
		s.openCase(c, i, first)
		at := c.place(i)
		note := ""
		if at.Part != part {
			note, ended, part = phaseNote(at.Phase), ended && at.Phase != step.TearDown, at.Part
		}
		if ended {
			continue
		}
		if c.Steps[i].Tool.Type == step.Finish {
			ended = true
			continue
		}
		from, err := step.WithParameters(c.Steps[i], at.Values)
		if err != nil {
			return &step.InvalidError{Path: fmt.Sprintf("steps[%d].tool", i), Msg: err.Error()}
		}
		for _, g := range open {
			from.Optional = from.Optional || g.optional && step.Inner(&from.Tool).Type != step.Assert
		}
		var m Move
		if from.Tool.Type == step.RunGroup {
			call, ok, failed := s.asFunction(c, i, first, from.Optional)
			if failed != nil {
				return failed
			}
			if ok {
				if first > i && first < at.End {
					s.openCase(c, first, first)
				}
				m := Move{Tool: &from.Tool, Path: fmt.Sprintf("steps[%d].tool", i),
					Note: Join(note, Comment("Step group: "+c.groupName(i)+".")), Call: call}
				if from.When != nil {
					if m.When, err = s.readCondition(fmt.Sprintf("steps[%d].when", i), from.When, nil); err != nil {
						return err
					}
				}
				s.Moves = append(s.Moves, m)
				inFunction = at.End
				continue
			}
			g := openGroup{end: at.End, optional: from.Optional, closes: from.When != nil && c.acts(i+1, at.End)}
			open = append(open, g)
			m, err = s.openGroup(fmt.Sprintf("steps[%d]", i), c.groupName(i), &from, g.closes)
		} else {
			m, err = s.read(fmt.Sprintf("steps[%d].tool", i), &from)
		}
		if err != nil {
			return err
		}
		m.Note = Join(note, m.Note)
		s.Moves = append(s.Moves, m)
	}
	s.close(open, len(c.Steps))
	s.openCase(c, len(c.Steps), first)
	return nil
}

// close ends the groups whose last step is before a place.
func (s *Script) close(open []openGroup, i int) []openGroup {
	for len(open) > 0 && open[len(open)-1].end <= i {
		if open[len(open)-1].closes {
			s.Moves = append(s.Moves, Move{Tool: &step.Tool{Type: step.RunGroup}, Closes: true})
		}
		open = open[:len(open)-1]
	}
	return open
}

// acts reports whether some of the steps do anything.
func (c *Case) acts(from, to int) bool {
	for i := from; i < to; i++ {
		if c.Steps[i].Tool.Type != step.RunGroup {
			return true
		}
	}
	return false
}

func (c *Case) groupName(i int) string {
	if in := c.place(i + 1).Group; in != nil && i+1 < c.place(i).End {
		return in.Name
	}
	return "without steps"
}

// openGroup is the beginning of a step group.
func (s *Script) openGroup(path, name string, from *step.Step, closes bool) (Move, error) {
	m := Move{Tool: &from.Tool, Note: Comment("Step group: " + name + ".")}
	if from.Optional {
		m.Note = Join(m.Note, "It is optional: here each of its actions is.")
	}
	if !closes {
		return m, nil
	}
	when, err := s.readCondition(path+".when", from.When, nil)
	m.When = when
	return m, err
}

// phaseNote says which steps begin.
func phaseNote(phase string) string {
	switch phase {
	case step.SetUp:
		return "Set-up."
	case step.TearDown:
		return "Tear-down: here it is done only when all before it worked."
	}
	return ""
}

// readCondition reads the condition of a step or a group.
func (s *Script) readCondition(path string, c *step.Condition, within []Scope) (*Move, error) {
	when := Move{Timeout: c.TimeoutMS, Within: within}
	if when.Timeout == 0 {
		when.Timeout = conditionTimeout
	}
	tool := &step.Tool{Type: step.Assert, Args: step.Args{Selector: c.Selector, Not: c.Not, Matcher: c.Matcher}}
	if err := s.fill(path, &when, tool); err != nil {
		return nil, err
	}
	return &when, nil
}
