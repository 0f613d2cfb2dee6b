package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/storage"
)

type crashCommand struct {
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

// crashBench is one run of the command.
type crashBench struct {
	*crashCommand
	targets
	product *product
	db      *storage.DB
	all     []sample
	insert  *outcome // the baseline of one INSERT a request
	burst   *outcome
}

// Run measures the parts in turn and prints a Markdown table.
func (c *crashCommand) Run(ctx context.Context) error {
	b := &crashBench{crashCommand: c, targets: crashTargets[c.Size]}
	parts := b.parts()
	if err := checkParts(c.Only, parts); err != nil {
		return err
	}
	b.all = samples(512, b.bytes)
	var err error
	if b.product, err = startProduct(ctx, c.Binary); err != nil {
		return err
	}
	defer b.product.stop()
	if b.db, err = storage.Open(storage.Config{URL: b.product.database, MaxConns: 16}); err != nil {
		return err
	}
	defer b.db.Close()
	fmt.Printf("crash reports of %s (%d bytes), %d connections, %s a part\n\n| part | measured | p50 | p99 | target | |\n|---|---|---|---|---|---|\n",
		c.Size, len(b.all[0].body), c.Conns, c.Duration)
	return runParts(ctx, c.Only, parts)
}

// parts are the parts in the order in which they run. The deadline of those that wait for
// the workers is drainLimit longer than what they send for.
func (b *crashBench) parts() []part {
	return []part{
		{name: "baselines", limit: 5*b.Duration + 2*time.Minute, run: b.baselines},
		{name: "burst", limit: 2*b.Duration + drainLimit, run: b.measureBurst},
		{name: "sustained", limit: 4*b.Duration + drainLimit, run: b.measureSustained},
		{name: "times", limit: 3*b.Duration + drainLimit, run: b.measureTimes},
		{name: "idle", limit: idleTime + drainLimit, run: b.measureIdle},
		{name: "backlog", limit: 2*b.Duration + 2*drainLimit, run: b.measureBacklog},
		{name: "shapes", limit: 6*b.Duration + 3*drainLimit, run: b.measureShapes, asked: true},
		// Behind the shapes, whose organization has no symbol file.
		{name: "mapped", limit: 4*b.Duration + 3*drainLimit, run: b.measureMapped},
		{name: "memory", limit: 2*b.Duration + b.Memory + drainLimit, run: b.measureMemory, asked: true},
		{name: "reading", limit: time.Hour, run: b.measureReading, asked: true},
	}
}

func (b *crashBench) row(part, measured string, o *outcome, target string, met bool) {
	mark := ""
	if target != "" {
		mark = map[bool]string{true: "met", false: "missed"}[met]
	}
	p50, p99 := "", ""
	if o != nil {
		p50, p99 = round(o.quantile(0.5)), round(o.quantile(0.99))
	}
	fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", part, measured, p50, p99, target, mark)
}

func round(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

func (b *crashBench) load(target string, duration time.Duration, rate float64) *load {
	u, err := url.Parse(target)
	if err != nil {
		panic(err) // this program composed the address
	}
	return &load{target: u, samples: b.all, conns: b.Conns, duration: duration, rate: rate}
}

func (b *crashBench) submit(duration time.Duration, rate float64) *load {
	return b.load(b.product.base+"/post?format=json&token="+b.product.token, duration, rate)
}

// send runs a load and fails when a request was refused.
func send(ctx context.Context, l *load) (*outcome, error) {
	defer progress.Waits(ctx, fmt.Sprintf("%s of requests on %d connections", l.duration, l.conns))()
	o, err := l.run(ctx)
	if err != nil {
		return nil, err
	}
	if len(o.refused) > 0 {
		return nil, fmt.Errorf("refused: %v", o.refused)
	}
	return o, nil
}

// baselines measures what the machine does with less work.
func (b *crashBench) baselines(ctx context.Context) error {
	address, stop, err := startBaseline(ctx, b.product.database)
	if err != nil {
		return err
	}
	defer stop()
	warm := b.Duration / 5
	for _, baseline := range []struct{ name, path string }{{"baseline: Gin, read and decode", "/decode"}, {"baseline: Gin, one INSERT a request (jsonb)", "/insert"}} {
		l := b.load("http://"+address+baseline.path, warm, 0)
		if _, err := send(ctx, l); err != nil {
			return err
		}
		l.duration = b.Duration
		o, err := send(ctx, l)
		if err != nil {
			return err
		}
		b.row(baseline.name, fmt.Sprintf("%.0f/s", o.perSecond()), o, "", true)
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
func (b *crashBench) settle(ctx context.Context) error {
	if _, err := b.db.ExecContext(ctx, "drop table if exists baseline_json, baseline_rows"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	return nil
}

// measureBurst sends as fast as responses arrive, then waits for the workers.
func (b *crashBench) measureBurst(ctx context.Context) error {
	if _, err := send(ctx, b.submit(b.Duration/5, 0)); err != nil {
		return err
	}
	if _, err := b.drained(ctx); err != nil {
		return err
	}
	before, err := b.processed(ctx)
	if err != nil {
		return err
	}
	o, err := send(ctx, b.submit(b.Duration, 0))
	if err != nil {
		return err
	}
	b.burst = o
	b.row("burst, accepted and durable", fmt.Sprintf("%.0f/s", o.perSecond()), o, "", true)
	if b.insert != nil {
		ratio := o.perSecond() / b.insert.perSecond()
		regression.Measured(ctx, b.Size+" burst", ratio)
		b.row("burst over the baseline of one INSERT", fmt.Sprintf("%.2f", ratio), nil, fmt.Sprintf("%.1f", b.targets.burst), ratio >= b.targets.burst)
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
	if after-before != o.accepted {
		return fmt.Errorf("accepted %d reports, processed %d", o.accepted, after-before)
	}
	regression.Measured(ctx, b.Size+" drain", b.drainRow(fmt.Sprintf("drain of %d reports after the burst", after-during), after-during, took, o))
	return nil
}

// drainRow compares a drain with a burst, and returns the ratio.What was processed before
// the drain was looked at counts as drained in no time.
func (b *crashBench) drainRow(part string, reports int, took time.Duration, burst *outcome) float64 {
	if reports < burst.accepted/20 {
		b.row(part, "the workers kept up with the burst", nil, fmt.Sprintf("%.1f", drainTarget), true)
		return 1
	}
	rate := float64(reports) / took.Seconds()
	ratio := rate / burst.perSecond()
	b.row(part, fmt.Sprintf("%.0f/s, %.2f of the burst", rate, ratio), nil, fmt.Sprintf("%.1f", drainTarget), ratio >= drainTarget)
	return ratio
}

// share returns a part of the burst rate, which it measures first where the burst was
// not among the parts.
func (b *crashBench) share(ctx context.Context, part float64) (float64, error) {
	if b.burst == nil {
		if err := b.measureBurst(ctx); err != nil {
			return 0, err
		}
	}
	return part * b.burst.perSecond(), nil
}

// steady is the rate of the parts that go on for long.
func (b *crashBench) steady(ctx context.Context) (float64, error) {
	if b.Rate > 0 {
		return b.Rate, nil
	}
	return b.share(ctx, sustainedRate)
}

func (b *crashBench) processed(ctx context.Context) (int, error) {
	var n int
	err := b.db.GetContext(ctx, &n, `select count(*) from crashes`)
	return n, err
}

// openTasks describes what drained waits for.
func (b *crashBench) openTasks(ctx context.Context, kinds []string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var open int
	if err := b.db.GetContext(ctx, &open, `select count(*) from tasks where kind = any($1) and state in ('queued', 'running')`, array(kinds)); err != nil {
		return "the workers"
	}
	return fmt.Sprintf("the workers: %d tasks are open", open)
}

// drained waits until no task of some kinds is open, by default of those that process
// crashes.
func (b *crashBench) drained(ctx context.Context, kinds ...string) (time.Duration, error) {
	if len(kinds) == 0 {
		kinds = []string{"crash:process"}
	}
	defer progress.WaitsFor(ctx, func() string { return b.openTasks(ctx, kinds) })()
	start := time.Now()
	for {
		var open bool
		if err := b.db.GetContext(ctx, &open, `select exists (
			select from tasks where kind = any($1) and state in ('queued', 'running'))`, array(kinds)); err != nil {
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
func (b *crashBench) measureSustained(ctx context.Context) error {
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
			if err := b.db.GetContext(watch, &age, `select coalesce(extract(epoch from now() - min(created_at)), 0)
				from tasks where kind = 'crash:process' and state in ('queued', 'running')`); err == nil {
				most = max(most, age)
			}
			select {
			case <-watch.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		oldest <- time.Duration(most * float64(time.Second))
	}()
	o, err := send(ctx, b.submit(2*b.Duration, rate))
	if err != nil {
		return err
	}
	cancel()
	age := <-oldest
	held := o.perSecond() >= 0.98*rate
	if held {
		regression.Measured(ctx, b.Size+" oldest", age.Seconds())
	}
	b.row(fmt.Sprintf("sustained: oldest waiting report at %.0f/s (held %.0f/s)", rate, o.perSecond()), round(age), o, round(sustainedTarget), held && age < sustainedTarget)
	_, err = b.drained(ctx)
	return err
}

// measureTimes measures response times at half of the burst rate.
func (b *crashBench) measureTimes(ctx context.Context) error {
	rate, err := b.share(ctx, 0.5)
	if err != nil {
		return err
	}
	o, err := send(ctx, b.submit(b.Duration, rate))
	if err != nil {
		return err
	}
	tail := float64(o.quantile(0.99)) / float64(o.quantile(0.5))
	regression.Measured(ctx, b.Size+" tail", tail)
	b.row(fmt.Sprintf("answer at half the burst rate (%.0f/s): p99 over p50", rate), fmt.Sprintf("%.1f", tail), o, fmt.Sprintf("below %d", tailTarget), tail < tailTarget)
	_, err = b.drained(ctx)
	return err
}

// measureIdle sends single reports to an idle Slipway.
func (b *crashBench) measureIdle(ctx context.Context) error {
	l := b.submit(idleTime, 4)
	l.conns = 1
	var since time.Time
	if err := b.db.GetContext(ctx, &since, `select now()`); err != nil {
		return err
	}
	if _, err := send(ctx, l); err != nil {
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
	b.row(fmt.Sprintf("idle: accepted to started, median of %d", len(waits)), round(median), nil, "100ms", median < 100*time.Millisecond)
	return nil
}
