// Package crash measures how crash reports are accepted, processed and read.
//
// Its parts are a burst and the drain of what it left, a steady rate, response times, an idle
// service, memory, a long backlog, real shapes of reports, reports whose frames are mapped,
// and lists among a million crashes. Baselines of the same run do less work on the same
// machine: a server that only decodes, one that does one INSERT a request, and statements of
// many rows without HTTP.
//
// A part that is refused, or whose reports are not processed in time, ends the command with an
// error; a missed target is only printed.
package crash

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/bench/schedule"
	"github.com/slipway-qa/slipway/storage"
)

// Command measures crash reports.
type Command struct {
	Size     string        `default:"4KB" enum:"4KB,60KB" help:"Size of a report: 4KB or 60KB."`
	Conns    int           `default:"64" help:"Connections of the generator."`
	Duration time.Duration `default:"15s" help:"Length of each measurement."`
	Rate     float64       `help:"Rate of the sustained and the memory part, in reports a second; default: 0.4 of the burst."`
	Only     []string      `help:"Parts to measure: baselines, burst, sustained, times, idle, backlog, shapes, mapped, memory, reading; default: all but shapes, memory and reading."`
	Binary   string        `help:"A slipway program to measure; default: build this checkout."`
	Memory   time.Duration `default:"5m" help:"Length of the memory part."`
	Backlog  int           `default:"60000" help:"Commits of one report each in the backlog part."`
	Crashes  int           `default:"1000000" help:"Crashes that the reading part lists."`
}

// targets are the targets of a size: ratios to what the same run measured, since the
// same machine differs by a factor of two from day to day.
type targets struct {
	bytes int
	burst float64 // over the baseline of one INSERT a request
}

var crashTargets = map[string]targets{"4KB": {4 << 10, 2.4}, "60KB": {60 << 10, 5.5}}

// Targets of both sizes.
const (
	drainTarget     = 0.8         // of the burst rate
	tailTarget      = 3           // p99 over p50 at half the burst rate
	sustainedRate   = 0.4         // of the burst rate
	sustainedTarget = time.Second // the oldest waiting report meanwhile
)

const (
	// drainLimit is how long a part may take beside the time for which it sends: a drain at
	// a fifteenth of the burst rate, as was once measured, ends within it.
	drainLimit = 6 * time.Minute
	idleTime   = 20 * time.Second
)

// bench is one run of the command.
type bench struct {
	*Command
	targets
	product *process.Product
	db      *storage.DB
	all     []measure.Sample
	insert  *measure.Outcome // the baseline of one INSERT a request
	burst   *measure.Outcome
}

// Run measures the parts in turn and prints a Markdown table.
func (c *Command) Run(ctx context.Context) error {
	b := &bench{Command: c, targets: crashTargets[c.Size]}
	parts := b.parts()
	if err := measure.CheckParts(c.Only, parts); err != nil {
		return err
	}
	b.all = measure.Samples(512, b.bytes)
	var err error
	if b.product, err = process.Start(ctx, c.Binary); err != nil {
		return err
	}
	defer b.product.Stop()
	if b.db, err = storage.Open(storage.Config{URL: b.product.Database, MaxConns: 16}); err != nil {
		return err
	}
	defer b.db.Close()
	fmt.Printf("crash reports of %s (%d bytes), %d connections, %s a part\n\n| part | measured | p50 | p99 | target | |\n"+
		"|---|---|---|---|---|---|\n",
		c.Size, len(b.all[0].Body), c.Conns, c.Duration)
	return measure.RunParts(ctx, c.Only, parts)
}

// parts are the parts in the order in which they run. The deadline of those that wait for
// the workers is drainLimit longer than what they send for.
func (b *bench) parts() []measure.Part {
	return []measure.Part{
		{Name: "baselines", Limit: 5*b.Duration + 2*time.Minute, Run: b.baselines},
		{Name: "burst", Limit: 2*b.Duration + drainLimit, Run: b.measureBurst},
		{Name: "sustained", Limit: 4*b.Duration + drainLimit, Run: b.measureSustained},
		{Name: "times", Limit: 3*b.Duration + drainLimit, Run: b.measureTimes},
		{Name: "idle", Limit: idleTime + drainLimit, Run: b.measureIdle},
		{Name: "backlog", Limit: 2*b.Duration + 2*drainLimit, Run: b.measureBacklog},
		{Name: "shapes", Limit: 6*b.Duration + 3*drainLimit, Run: b.measureShapes, Asked: true},
		// Behind the shapes, whose organization has no symbol file.
		{Name: "mapped", Limit: 4*b.Duration + 3*drainLimit, Run: b.measureMapped},
		{Name: "memory", Limit: 2*b.Duration + b.Memory + drainLimit, Run: b.measureMemory, Asked: true},
		{Name: "reading", Limit: time.Hour, Run: b.measureReading, Asked: true},
	}
}

func (b *bench) row(part, measured string, o *measure.Outcome, target string, met bool) {
	mark := ""
	if target != "" {
		mark = map[bool]string{true: "met", false: "missed"}[met]
	}
	p50, p99 := "", ""
	if o != nil {
		p50, p99 = measure.Round(o.Quantile(0.5)), measure.Round(o.Quantile(0.99))
	}
	fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", part, measured, p50, p99, target, mark)
}

func (b *bench) load(target string, duration time.Duration, rate float64) *measure.Load {
	u, err := url.Parse(target)
	if err != nil {
		panic(err) // this program composed the address
	}
	return &measure.Load{Target: u, Samples: b.all, Conns: b.Conns, Duration: duration, Rate: rate}
}

func (b *bench) submit(duration time.Duration, rate float64) *measure.Load {
	return b.load(b.product.Base+"/post?format=json&token="+b.product.Token, duration, rate)
}

// baselines measures what the machine does with less work.
func (b *bench) baselines(ctx context.Context) error {
	address, stop, err := process.StartBaseline(ctx, b.product.Database)
	if err != nil {
		return err
	}
	defer stop()
	warm := b.Duration / 5
	for _, baseline := range []struct{ name, path string }{{"baseline: Gin, read and decode", "/decode"},
		{"baseline: Gin, one INSERT a request (jsonb)", "/insert"}} {
		l := b.load("http://"+address+baseline.path, warm, 0)
		if _, err := measure.Send(ctx, l); err != nil {
			return err
		}
		l.Duration = b.Duration
		o, err := measure.Send(ctx, l)
		if err != nil {
			return err
		}
		b.row(baseline.name, fmt.Sprintf("%.0f/s", o.PerSecond()), o, "", true)
		b.insert = o
	}
	rows, err := measureMultiRow(ctx, b.db, b.all, b.Duration)
	if err != nil {
		return err
	}
	b.row("baseline: INSERT of 50 compressed rows, no HTTP", fmt.Sprintf("%.0f/s", rows), nil, "", true)
	return b.settle(ctx)
}

// settle waits until the database has written the changes of a part, so that no
// part pays for the one before.
func (b *bench) settle(ctx context.Context) error {
	if _, err := b.db.ExecContext(ctx, "drop table if exists baseline_json, baseline_rows"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	return nil
}

// measureBurst sends as fast as responses arrive, then waits for the workers.
func (b *bench) measureBurst(ctx context.Context) error {
	if _, err := measure.Send(ctx, b.submit(b.Duration/5, 0)); err != nil {
		return err
	}
	if _, err := b.drained(ctx); err != nil {
		return err
	}
	before, err := b.processed(ctx)
	if err != nil {
		return err
	}
	o, err := measure.Send(ctx, b.submit(b.Duration, 0))
	if err != nil {
		return err
	}
	b.burst = o
	b.row("burst, accepted and durable", fmt.Sprintf("%.0f/s", o.PerSecond()), o, "", true)
	if b.insert != nil {
		ratio := o.PerSecond() / b.insert.PerSecond()
		regression.Measured(ctx, b.Size+" burst", ratio)
		b.row("burst over the baseline of one INSERT", fmt.Sprintf("%.2f", ratio), nil, fmt.Sprintf("%.1f", b.targets.burst),
			ratio >= b.targets.burst)
	}
	during, err := b.processed(ctx)
	if err != nil {
		return err
	}
	took, err := b.drained(ctx)
	if err != nil {
		return err
	}
	after, err := b.processed(ctx)
	if err != nil {
		return err
	}
	if after-before != o.Accepted {
		return fmt.Errorf("accepted %d reports, processed %d", o.Accepted, after-before)
	}
	regression.Measured(ctx, b.Size+" drain", b.drainRow(fmt.Sprintf("drain of %d reports after the burst", after-during),
		after-during, took, o))
	return nil
}

// drainRow compares a drain with a burst, and returns the ratio.What was processed before
// the drain was looked at counts as drained in no time.
func (b *bench) drainRow(part string, reports int, took time.Duration, burst *measure.Outcome) float64 {
	if reports < burst.Accepted/20 {
		b.row(part, "the workers kept up with the burst", nil, fmt.Sprintf("%.1f", drainTarget), true)
		return 1
	}
	rate := float64(reports) / took.Seconds()
	ratio := rate / burst.PerSecond()
	b.row(part, fmt.Sprintf("%.0f/s, %.2f of the burst", rate, ratio), nil, fmt.Sprintf("%.1f", drainTarget), ratio >= drainTarget)
	return ratio
}

// share returns a part of the burst rate, which it measures first where the burst was
// not among the parts.
func (b *bench) share(ctx context.Context, part float64) (float64, error) {
	if b.burst == nil {
		if err := b.measureBurst(ctx); err != nil {
			return 0, err
		}
	}
	return part * b.burst.PerSecond(), nil
}

// steady is the rate of the parts that go on for long.
func (b *bench) steady(ctx context.Context) (float64, error) {
	if b.Rate > 0 {
		return b.Rate, nil
	}
	return b.share(ctx, sustainedRate)
}

func (b *bench) processed(ctx context.Context) (int, error) {
	var n int
	err := b.db.GetContext(ctx, &n, `select count(*) from crashes`)
	return n, err
}

// openTasks are the tasks of some kinds ($1) that have not ended. Each state has an index of its
// own: a scan of all tasks, many times a second, would take a tenth of what is measured.
const openTasks = `(select created_at from tasks where state = 'queued' and kind = any($1)
	union all select created_at from tasks where state = 'running' and kind = any($1)) open`

// describeOpen describes what drained waits for.
func (b *bench) describeOpen(ctx context.Context, kinds []string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var open int
	if err := b.db.GetContext(ctx, &open, `select count(*) from `+openTasks, schedule.Array(kinds)); err != nil {
		return "the workers"
	}
	return fmt.Sprintf("the workers: %d tasks are open", open)
}

// drained waits until no task of some kinds is open, by default of those that process
// crashes.
func (b *bench) drained(ctx context.Context, kinds ...string) (time.Duration, error) {
	if len(kinds) == 0 {
		kinds = []string{"crash:process"}
	}
	defer progress.WaitsFor(ctx, func() string { return b.describeOpen(ctx, kinds) })()
	start := time.Now()
	for {
		var open bool
		if err := b.db.GetContext(ctx, &open, `select exists (select from `+openTasks+`)`, schedule.Array(kinds)); err != nil {
			return 0, err
		}
		if !open {
			return time.Since(start), nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// measureSustained sends at a steady rate and watches the oldest waiting report.
func (b *bench) measureSustained(ctx context.Context) error {
	rate, err := b.steady(ctx)
	if err != nil {
		return err
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	oldest := make(chan time.Duration, 1)
	go func() {
		var most float64
		for watch.Err() == nil {
			var age float64
			if err := b.db.GetContext(watch, &age, `select coalesce(extract(epoch from now() - min(created_at)), 0) from `+openTasks,
				schedule.Array([]string{"crash:process"})); err == nil {
				most = max(most, age)
			}
			select {
			case <-watch.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		oldest <- time.Duration(most * float64(time.Second))
	}()
	o, err := measure.Send(ctx, b.submit(2*b.Duration, rate))
	if err != nil {
		return err
	}
	cancel()
	age := <-oldest
	held := o.PerSecond() >= 0.98*rate
	if held {
		regression.Measured(ctx, b.Size+" oldest", age.Seconds())
	}
	b.row(fmt.Sprintf("sustained: oldest waiting report at %.0f/s (held %.0f/s)", rate, o.PerSecond()), measure.Round(age),
		o, measure.Round(sustainedTarget), held && age < sustainedTarget)
	_, err = b.drained(ctx)
	return err
}

// measureTimes measures response times at half of the burst rate.
func (b *bench) measureTimes(ctx context.Context) error {
	rate, err := b.share(ctx, 0.5)
	if err != nil {
		return err
	}
	o, err := measure.Send(ctx, b.submit(b.Duration, rate))
	if err != nil {
		return err
	}
	tail := float64(o.Quantile(0.99)) / float64(o.Quantile(0.5))
	regression.Measured(ctx, b.Size+" tail", tail)
	b.row(fmt.Sprintf("answer at half the burst rate (%.0f/s): p99 over p50", rate), fmt.Sprintf("%.1f", tail), o,
		fmt.Sprintf("below %d", tailTarget), tail < tailTarget)
	_, err = b.drained(ctx)
	return err
}

// measureIdle sends single reports to an idle Slipway.
func (b *bench) measureIdle(ctx context.Context) error {
	l := b.submit(idleTime, 4)
	l.Conns = 1
	var since time.Time
	if err := b.db.GetContext(ctx, &since, `select now()`); err != nil {
		return err
	}
	if _, err := measure.Send(ctx, l); err != nil {
		return err
	}
	if _, err := b.drained(ctx); err != nil {
		return err
	}
	var waits []float64
	if err := b.db.SelectContext(ctx, &waits, `select extract(epoch from started_at - created_at) from tasks
		where kind = 'crash:process' and created_at > $1 order by 1`, since); err != nil {
		return err
	}
	median := time.Duration(waits[len(waits)/2] * float64(time.Second))
	b.row(fmt.Sprintf("idle: accepted to started, median of %d", len(waits)), measure.Round(median), nil, "100ms",
		median < 100*time.Millisecond)
	return nil
}
