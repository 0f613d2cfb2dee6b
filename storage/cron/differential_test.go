package cron

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/adhocore/gronx"
	robfig "github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
)

// compared is how many random expressions each module answers.
const compared = 100_000

// generator makes random expressions of six fields, out of what both modules and
// this one take.
type generator struct{ *rand.Rand }

func (g generator) value(low, high int) int { return low + g.IntN(high-low+1) }

func (g generator) field(low, high int) string {
	switch g.IntN(8) {
	case 0, 1, 2:
		return "*"
	case 3:
		return fmt.Sprintf("*/%d", g.value(1, max(2, (high-low)/2)))
	case 4:
		a := g.value(low, high)
		return fmt.Sprintf("%d-%d", a, g.value(a, high))
	case 5:
		a := g.value(low, high)
		b := g.value(a, high)
		return fmt.Sprintf("%d-%d/%d", a, b, g.value(1, max(1, b-a)))
	case 6:
		var list []string
		for range 1 + g.IntN(4) {
			list = append(list, fmt.Sprint(g.value(low, high)))
		}
		return strings.Join(list, ",")
	}
	return fmt.Sprint(g.value(low, high))
}

func (g generator) expression() []string {
	fields := []string{g.field(0, 59), g.field(0, 59), g.field(0, 23), g.field(1, 31), g.field(1, 12), g.field(0, 6)}
	if g.IntN(3) == 0 {
		fields[4] = []string{"JAN", "feb", "Mar-JUN", "DEC,JAN"}[g.IntN(4)]
	}
	if g.IntN(3) == 0 {
		fields[5] = []string{"MON", "tue-FRI", "Sat,SUN"}[g.IntN(3)]
	}
	return fields
}

// at is a random second of thirty years.
func (g generator) at() time.Time {
	return time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(g.Int64N(30*365*86400)) * time.Second)
}

// robfig/cron takes no L, W and #, and fires twice in a repeated hour: it is
// compared in a zone whose clock never changes.
func TestAsRobfig(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(1, 2))}
	parser := robfig.NewParser(robfig.Second | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)
	tokyo := zone(t, "Asia/Tokyo")
	none := 0
	for range compared {
		text := strings.Join(g.expression(), " ")
		theirs, err := parser.Parse(text)
		require.NoError(t, err, text)
		at := g.at().In(tokyo)
		want := theirs.Next(at)
		got, ok := parse(t, text).Next(at, tokyo)
		if want.IsZero() {
			none++
			require.False(t, ok, "%s after %s: %s", text, at, got)
			continue
		}
		require.True(t, ok && got.Equal(want), "%s after %s: %s, theirs %s", text, at, got, want)
	}
	require.Less(t, none, compared/10)
}

// gronx knows L, W and # as well; it loses the repeated hour, and a step of a day
// field is no restriction to it, so those stay out.
func TestAsGronx(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(3, 4))}
	special := []string{"L", "15W", "1W", "28W"}
	for range compared {
		fields := g.expression()
		// One of the day fields alone: the modules differ in when both count.
		if day := g.IntN(2); day == 0 {
			fields[3] = "*"
			if g.IntN(4) == 0 {
				fields[5] = []string{fmt.Sprintf("%d#%d", g.value(1, 6), g.value(1, 4)), fmt.Sprintf("%dL", g.value(1, 6))}[g.IntN(2)]
			}
		} else {
			fields[5] = "*"
			if g.IntN(4) == 0 {
				fields[3] = special[g.IntN(len(special))]
			}
		}
		text := strings.Join(fields, " ")
		at := g.at()
		got, ok := parse(t, text).Next(at, time.UTC)
		if !ok {
			continue // gronx searches long for what never comes
		}
		due, err := gronx.New().IsDue(text, got)
		require.NoError(t, err, text)
		require.True(t, due, "%s: they do not fire at %s", text, got)
		// Some moment before it must not fire in theirs either.
		if gap := got.Sub(at); gap > time.Second {
			between := at.Add(time.Second + time.Duration(g.Int64N(int64(gap-time.Second))).Truncate(time.Second))
			due, err := gronx.New().IsDue(text, between)
			require.NoError(t, err, text)
			require.False(t, due, "%s: they fire at %s, before %s", text, between, got)
		}
	}
}
