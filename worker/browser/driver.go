package browser

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// driverChecks is how often a driver whose connection has ended is asked whether it is
	// still there, each time for driverCheck: one that is busy must not count as ended, and
	// one that has ended is to be noticed within two seconds.
	driverChecks = 3
	driverCheck  = 500 * time.Millisecond
)

// watchDriver closes Lost of a lease when the managed chromedriver ends. A process that ends
// ends its connections, so the one for BiDi tells at once; it may also have ended alone.
func (p *Pool) watchDriver(lease *Lease, conn *webdriver.BiDi) (leave func()) {
	ctx, cancel := context.WithCancel(p.life)
	if conn == nil { // tests of the pool without browsers
		return cancel
	}
	p.background(func() {
		select {
		case <-ctx.Done():
			return
		case <-conn.Done():
		}
		for range driverChecks {
			within, end := context.WithTimeout(ctx, driverCheck)
			_, err := p.driver.Status(within)
			end()
			if err == nil || ctx.Err() != nil {
				return
			}
		}
		p.cfg.Log.Error("the driver of a browser has ended while a test runs")
		close(lease.lost)
	})
	return cancel
}
