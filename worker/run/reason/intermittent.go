package reason

import "fmt"

// nowAndThen says of the runs before that the test failed now and then; "" where they do not say so.
// They do where it ended in both ways on one build, and where it failed at least twice with a run that
// passed after each: a failure that was followed by good runs once may have been mended.
func (f *facts) nowAndThen() string {
	if f.Good == nil {
		return ""
	}
	type results struct{ passed, failed bool }
	builds := map[string]results{}
	failed, stretches, both := 0, 0, false
	newerPassed := false
	for _, e := range f.Good.Recent { // newest first
		of := builds[e.Build]
		of.passed, of.failed = of.passed || e.Passed, of.failed || e.Failed
		if e.Build != "" {
			builds[e.Build] = of
		}
		both = both || of.passed && of.failed
		if e.Failed {
			failed++
			if newerPassed {
				stretches++
			}
		}
		newerPassed = e.Passed
	}
	if !both && stretches < 2 {
		return ""
	}
	return fmt.Sprintf("It failed now and then before: %d of the last %d runs.", failed, len(f.Good.Recent))
}
