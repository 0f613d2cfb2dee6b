package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

type crashCommand struct {
	Size     string        `default:"4KB" enum:"4KB,60KB" help:"Size of a report: 4KB or 60KB."`
	Conns    int           `default:"64" help:"Connections of the generator."`
	Duration time.Duration `default:"15s" help:"Length of each measurement."`
	Rate     float64       `help:"Rate of the sustained and the memory part, in reports a second; default: 0.4 of the burst."`
	Only     []string      `help:"Parts to measure: baselines, burst, sustained, times, idle, backlog, mapped, memory, reading; default: all but memory and reading."`
	Binary   string        `help:"A slipway program to measure; default: build this checkout."`
	Memory   time.Duration `default:"5m" help:"Length of the memory part."`
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
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"baselines", b.baselines}, {"burst", b.measureBurst}, {"sustained", b.measureSustained}, {"times", b.measureTimes},
		{"idle", b.measureIdle}, {"backlog", b.measureBacklog}, {"mapped", b.measureMapped}, {"memory", b.measureMemory}, {"reading", b.measureReading}} {
		if len(c.Only) == 0 && (part.name == "memory" || part.name == "reading") || len(c.Only) > 0 && !slices.Contains(c.Only, part.name) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
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
	b.drainRow(fmt.Sprintf("drain of %d reports after the burst", after-during), after-during, took)
	return nil
}

// drainRow compares a drain with the burst.
func (b *crashBench) drainRow(part string, reports int, took time.Duration) {
	rate := float64(reports) / took.Seconds()
	ratio := rate / b.burst.perSecond()
	b.row(part, fmt.Sprintf("%.0f/s, %.2f of the burst", rate, ratio), nil, fmt.Sprintf("%.1f", drainTarget), ratio >= drainTarget)
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

// drained waits until no crash task is open.
func (b *crashBench) drained(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	for {
		var open int
		if err := b.db.GetContext(ctx, &open, `select count(*) from (
			select 1 from tasks where kind = 'crash:process' and state in ('queued', 'running') limit 1) t`); err != nil {
			return 0, err
		}
		if open == 0 {
			return time.Since(start), nil
		}
		if time.Since(start) > 5*time.Minute {
			return 0, fmt.Errorf("%d tasks still open after five minutes", open)
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
	b.row(fmt.Sprintf("answer at half the burst rate (%.0f/s): p99 over p50", rate), fmt.Sprintf("%.1f", tail), o, fmt.Sprintf("below %d", tailTarget), tail < tailTarget)
	_, err = b.drained(ctx)
	return err
}

// measureIdle sends single reports to an idle Slipway.
func (b *crashBench) measureIdle(ctx context.Context) error {
	l := b.submit(20*time.Second, 4)
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

// measureMemory sends at the sustained rate and compares the memory in the second
// and the last fifth of the time.
func (b *crashBench) measureMemory(ctx context.Context) error {
	rate, err := b.steady(ctx)
	if err != nil {
		return err
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	type point struct {
		at    time.Duration
		bytes int64
	}
	points := make(chan []point, 1)
	start := time.Now()
	go func() {
		var all []point
		for watch.Err() == nil {
			if n, err := treeMemory(b.product.cmd.Process.Pid); err == nil {
				all = append(all, point{time.Since(start), n})
			}
			select {
			case <-watch.Done():
			case <-time.After(2 * time.Second):
			}
		}
		points <- all
	}()
	o, err := send(ctx, b.submit(b.Memory, rate))
	if err != nil {
		return err
	}
	cancel()
	all := <-points
	median := func(from, to time.Duration) int64 {
		var part []int64
		for _, p := range all {
			if p.at >= from && p.at < to {
				part = append(part, p.bytes)
			}
		}
		if len(part) == 0 {
			return 0
		}
		slices.Sort(part)
		return part[len(part)/2]
	}
	fifth := b.Memory / 5
	var trail []string
	for i := range 5 {
		trail = append(trail, fmt.Sprintf("%d", median(time.Duration(i)*fifth, time.Duration(i+1)*fifth)>>20))
	}
	early, late := median(fifth, 2*fifth), median(4*fifth, 5*fifth)
	growth := float64(late) / float64(max(early, 1))
	b.row(fmt.Sprintf("memory of the process tree by fifths of %s at %.0f/s, MiB", b.Memory, o.perSecond()), strings.Join(trail, ", "), nil, "last/second below 1.1", growth < 1.1)
	return nil
}
