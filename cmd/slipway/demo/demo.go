// Package demo fills an organization with example data, and removes it again: a shop for
// lamps with two apps, their builds, testers, sessions and feedback, thirty days of crashes in
// six languages with their symbols, and a suite of tests with a history of runs.
//
// It is a client: everything goes through the public API, so that what it shows is what
// anybody could have sent. Ids, times, devices and the numbers in messages come from a seed.
// What is there already is found by its name and left as it is: a filling that was
// interrupted is completed by the next one, and a complete one is left alone. The last thing
// that is made is a saved search (complete), which says that all is there.
//
// What the API does not take from the past is of now: builds, comments, decisions about
// groups and runs have the time at which they are made. Reports of crashes may be a year old,
// sessions of the apps thirty days, and starts that count for crash-free figures seven days.
//
// Each part of the work is a method of filler that says what it could not do (note): without
// a browser there are no runs, and a server that calls no address of this machine delivers to
// no webhook. All other failures end the filling with an error.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

// Access is a server and the keys of a person who owns the organization.
type Access struct {
	Server    string // http://127.0.0.1:8080
	APIKey    string
	User      string // with AccessKey: for tests
	AccessKey string
	UserID    string // the uuid of the person, for schedules; "": none are made
}

// Config is what to fill.
type Config struct {
	Access Access
	Seed   uint64
	Runs   int       // runs of the suite, each of four tests in a browser; 0: none
	Out    io.Writer // what is done, line by line
}

// maxRuns bounds the runs of the suite: each takes some seconds.
const maxRuns = 50

// Validate refuses what cannot be done.
func (c Config) Validate() error {
	at, err := url.Parse(c.Access.Server)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return errors.New("the server's address must begin with http:// or https://")
	case c.Access.APIKey == "" || c.Access.User == "" || c.Access.AccessKey == "":
		return errors.New("the API key, the user name and the access key of the owner are needed")
	case c.Runs < 0 || c.Runs > maxRuns:
		return fmt.Errorf("the number of runs must be between 0 and %d", maxRuns)
	}
	return nil
}

// complete is the saved search that is made last.
const complete = "Demo: new this week"

// filler fills an organization.
type filler struct {
	*client
	config Config
	notes  []string
	shop   *shop
	hooks  *receiver
	local  bool // the server is on this machine, so that it may call what this process serves

	team     int64            // the one of apps and groups
	apps     map[string]int64 // by package name
	projects map[string]crashProject
	key      *signingKey
}

// Fill fills the organization.
func Fill(ctx context.Context, config Config) error {
	if err := config.Validate(); err != nil {
		return err
	}
	f := &filler{client: newClient(config.Access), config: config, local: onThisMachine(config.Access.Server),
		apps: map[string]int64{}, projects: map[string]crashProject{}}
	begun := time.Now()
	done, err := f.saved(ctx)
	if err != nil {
		return err
	}
	if done != 0 {
		fmt.Fprintf(config.Out, "The demo is there already; nothing was added. `slipway demo --remove` removes it.\n")
		return nil
	}
	if f.key, err = newSigningKey(); err != nil {
		return err
	}
	if f.shop, err = openShop(); err != nil {
		return err
	}
	defer f.shop.close()
	if f.hooks, err = openReceiver(); err != nil {
		return err
	}
	defer f.hooks.close()
	for _, step := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"webhook", f.webhook},
		{"people", f.people},
		{"builds", f.builds},
		{"grants", f.grants},
		{"symbols", f.symbols},
		{"crashes", f.crashes},
		{"decisions", f.decisions},
		{"sessions", f.sessions},
		{"tests", f.tests},
		{"deliveries", f.deliveries},
		{"saved", f.complete},
	} {
		text, err := step.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if text != "" {
			fmt.Fprintf(config.Out, "  %-11s%s\n", step.name, text)
		}
	}
	for _, note := range f.notes {
		fmt.Fprintf(config.Out, "  not done   %s\n", note)
	}
	fmt.Fprintf(config.Out, "The demo is there after %s: %s/console\n", time.Since(begun).Round(100*time.Millisecond), f.access.Server)
	return nil
}

func (f *filler) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// onThisMachine reports whether an address is a loopback one.
func onThisMachine(server string) bool {
	at, err := url.Parse(server)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(at.Hostname())
	return at.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// listen opens a port of this machine.
func listen() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a port for the demo: %w", err)
	}
	return l, nil
}

// savedSearch is one that the console shows above the list of crash groups.
type savedSearch struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// saved returns the search that says that the demo is complete; 0: there is none.
func (c *client) saved(ctx context.Context) (int64, error) {
	var list struct {
		Searches []savedSearch `json:"saved_searches"`
	}
	if err := c.get(ctx, "/api/v3/saved-searches", url.Values{"area": {"crash-groups"}}, &list); err != nil {
		return 0, err
	}
	at := slices.IndexFunc(list.Searches, func(s savedSearch) bool { return s.Name == complete })
	if at < 0 {
		return 0, nil
	}
	return list.Searches[at].ID, nil
}

func (f *filler) complete(ctx context.Context) (string, error) {
	return "", f.call(ctx, "POST", "/api/v3/saved-searches", map[string]any{"area": "crash-groups", "name": complete,
		"query": "state=open&sort=first_seen"}, nil)
}
