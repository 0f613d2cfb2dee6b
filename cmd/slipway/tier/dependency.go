package tier

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation/model"
	workmail "github.com/slipway-qa/slipway/worker/mail"
)

// watchServices has the services watched that every tier uses.
func watchServices(s *Services) {
	s.dependencies.Add(ops.Dependency{Name: ops.Postgres, Host: storage.Config{URL: string(s.Settings.DatabaseURL)}.Host(),
		Check: s.probe.Check, Caused: storage.Unavailable})
	s.dependencies.Add(ops.Dependency{Name: ops.Redis, Host: s.Redis.Host(), Check: s.Redis.Check,
		Caused: func(err error) bool { return errors.Is(err, dispatch.ErrUnavailable) }})
	s.dependencies.Add(ops.Dependency{Name: ops.Objects, Host: s.Settings.Objects(false).String(), Check: s.Objects.Check,
		Caused: func(err error) bool { return errors.Is(err, object.ErrUnavailable) }})
}

// othersEvery is the time between two looks at what others may pay for, or log.
const othersEvery = time.Minute

// watchWork has watched what only workers use, and returns the checks of it. They
// report the last look, and so cost a probe nothing.
func watchWork(s *Services) (map[string]func(context.Context) error, error) {
	checks := map[string]func(context.Context) error{}
	add := func(name, host string, check func(context.Context) error) {
		s.dependencies.Add(ops.Dependency{Name: name, Host: host, Check: check, Every: othersEvery})
		checks[name] = s.dependencies.Last(name)
	}
	if s.Settings.SMTPURL != "" {
		server, err := workmail.ParseSMTP(string(s.Settings.SMTPURL))
		if err != nil {
			return nil, fmt.Errorf("SLIPWAY_SMTP_URL: %w", err)
		}
		at := net.JoinHostPort(server.Host, strconv.Itoa(server.Port))
		add(ops.MailServer, at, dials(at))
	}
	if s.Settings.WebDriverURL != "" {
		hubs, err := browser.ParseHubs(string(s.Settings.WebDriverURL))
		if err != nil {
			return nil, fmt.Errorf("SLIPWAY_WEBDRIVER_URL: %w", err)
		}
		hosts, status, err := statusOf(hubs)
		if err != nil {
			return nil, fmt.Errorf("SLIPWAY_WEBDRIVER_URL: %w", err)
		}
		add(ops.Browsers, hosts, status)
	}
	if set := s.Settings; set.ModelProvider != "" && set.ModelUse != "never" {
		base := model.BaseURL(set.ModelProvider, set.ModelURL)
		at, err := hostOf(base)
		if err != nil {
			return nil, fmt.Errorf("SLIPWAY_MODEL_URL: %w", err)
		}
		client := &http.Client{Timeout: statusTimeout} // by way of the proxy of the environment, as calls go
		add(ops.Model, at, func(ctx context.Context) error { return responds(ctx, client, base) })
	}
	return checks, nil
}

// hostOf returns the host of a URL. It never repeats the URL, which may hold a password.
func hostOf(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "", errors.New("is not an address with a host")
	}
	return u.Host, nil
}

// statusTimeout bounds the look at a server by HTTP.
const statusTimeout = 2 * time.Second

// dials returns the check of a server of which only a connection is wanted.
func dials(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// statusOf returns the hosts of hubs and the check that fails when none of them
// responds to the command Status of WebDriver (w3.org/TR/webdriver2, 8.3).
func statusOf(hubs []browser.Hub) (hosts string, check func(context.Context) error, err error) {
	var names []string
	for _, hub := range hubs {
		at, err := hostOf(hub.URL)
		if err != nil {
			return "", nil, err
		}
		names = append(names, at)
	}
	client := &http.Client{Timeout: statusTimeout}
	return strings.Join(names, ", "), func(ctx context.Context) error {
		var failed []error
		for _, hub := range hubs {
			err := responds(ctx, client, strings.TrimSuffix(hub.URL, "/")+"/status")
			if err == nil {
				return nil
			}
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}, nil
}

// responds returns an error where no HTTP server is at the address, or it fails. What
// it responds to a request without a key does not matter.
func responds(ctx context.Context, client *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("the address is not one")
	}
	response, err := client.Do(request)
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err // without the URL, which may hold a password
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("it responds %s", response.Status)
	}
	return nil
}
