package testrun

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/problem"
)

// A test types what variables hold, secret ones too, on the page that it has opened. Whoever
// says where a run begins so says who is told. People, and keys without scopes, may; a key
// with scopes, as agents have, whom a page may have told what to do, gets no further than the
// site of each test.

// checkScoped refuses what a run is given by a caller with scopes: an address on another
// site than one of those that the tests have, and variables, which may be part of addresses.
// An environment is not refused: who may change it has said what it is.
func checkScoped(ctx context.Context, testURL string, variables bool, recorded func() ([]string, error)) error {
	caller := auth.CallerOf(ctx)
	if caller == nil || caller.Scopes() == nil {
		return nil
	}
	if variables {
		return problem.Refused(http.StatusForbidden, "", "variables: a key with scopes gives a run none: tests open addresses by them")
	}
	if testURL == "" {
		return nil
	}
	addresses, err := recorded()
	if err != nil {
		return err
	}
	for _, address := range addresses {
		if !sameSite(address, testURL) {
			return problem.Refused(http.StatusForbidden, "",
				"testUrl: a key with scopes runs a test only on the site that it was written at; there is a test of another site, or "+
					"without an address")
		}
	}
	return nil
}

// plainHost is a host as all readers of addresses understand it alike.
var plainHost = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// sameSite reports whether a test may be moved from one address to another: to its own host,
// to one of the same registrable domain, or to the machine itself; never from https to http of
// another machine.
func sameSite(recorded, given string) bool {
	to, err := url.Parse(given)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" {
		return false
	}
	host := strings.ToLower(to.Hostname())
	if isLoopback(host) {
		return true
	}
	from, err := url.Parse(recorded)
	if err != nil || from.Scheme == "https" && to.Scheme != "https" {
		return false
	}
	own := strings.ToLower(from.Hostname())
	if own == "" || host == own {
		return own != "" // an address by its number, too
	}
	if !plainHost.MatchString(host) || !plainHost.MatchString(own) || isNumber(host) || isNumber(own) {
		return false
	}
	ours, err := publicsuffix.EffectiveTLDPlusOne(own)
	if err != nil {
		return false
	}
	theirs, err := publicsuffix.EffectiveTLDPlusOne(host)
	return err == nil && theirs == ours
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// isNumber reports whether browsers read a host as the number of a machine.
func isNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && last[0] >= '0' && last[0] <= '9'
}
