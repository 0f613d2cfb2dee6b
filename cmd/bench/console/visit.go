package console

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// consoleVisitor is somebody who is signed in to the console.
type consoleVisitor struct {
	base   string
	cookie []*http.Cookie
}

func (v *consoleVisitor) signIn(ctx context.Context, name, key string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	form := url.Values{"name": {name}, "key": {key}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.base+frame.Base+"/sign-in", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := (&http.Client{Jar: jar}).Do(r)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	v.cookie = jar.Cookies(r.URL)
	if len(v.cookie) == 0 {
		return fmt.Errorf("sign in as %s: %s", name, response.Status)
	}
	return nil
}

// get reads a page as a browser does, compressed, and returns its bytes as they came.
func (v *consoleVisitor) get(ctx context.Context, client *http.Client, address string) (status int, packed []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+address, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set("Accept", "text/html")
	for _, cookie := range v.cookie {
		r.AddCookie(cookie)
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	packed, err = io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Encoding") != "gzip" || response.StatusCode != http.StatusOK {
		return response.StatusCode, nil, err
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/") {
		return response.StatusCode, nil, nil
	}
	return response.StatusCode, packed, nil
}

// plainClient does not follow redirects: a page is what answers at its own address.
func plainClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// isID reports a segment of a path that names a row: a number, a uuid, an id of authoring.
var isID = regexp.MustCompile(`^([0-9]+|[0-9a-f-]{24,36})$`)

// patternOf is a path with :id in the place of ids.
func patternOf(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, frame.Base), "/")
	for i, part := range parts {
		if isID.MatchString(part) {
			parts[i] = ":id"
		}
	}
	return cmp.Or(strings.Join(parts, "/"), "/")
}

// crawl follows the links from the start of the console, and from what no link leads to, and returns the kinds of pages that
// are HTML, with some addresses each.
func (v *consoleVisitor) crawl(ctx context.Context) (map[string]*consolePage, error) {
	client := plainClient()
	defer client.CloseIdleConnections()
	found, seen, todo := map[string]*consolePage{}, map[string]bool{}, []string{frame.Base, frame.Base + "/operate", frame.Base + "/search"}
	for read := 0; len(todo) > 0 && read < crawlMost; {
		address := todo[0]
		todo = todo[1:]
		path, _, _ := strings.Cut(address, "?")
		pattern := patternOf(path)
		if seen[path] || found[pattern] != nil && len(found[pattern].addresses) >= patternMost {
			continue
		}
		seen[path] = true
		read++
		status, packed, err := v.get(ctx, client, address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		if status != http.StatusOK || packed == nil {
			continue
		}
		links, isPage, err := consoleLinks(v.base+address, packed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		if !isPage {
			continue
		}
		if found[pattern] == nil {
			found[pattern] = &consolePage{pattern: pattern}
		}
		found[pattern].addresses = append(found[pattern].addresses, address)
		todo = append(todo, links...)
	}
	return found, nil
}

// consoleLinks are the links of a page to pages of the console; isPage says that it is one.
func consoleLinks(address string, packed []byte) (links []string, isPage bool, err error) {
	unpacked, err := gzip.NewReader(strings.NewReader(string(packed)))
	if err != nil {
		return nil, false, err
	}
	root, err := html.Parse(unpacked)
	if err != nil {
		return nil, false, err
	}
	here, err := url.Parse(address)
	if err != nil {
		return nil, false, err
	}
	for n := range root.Descendants() {
		isPage = isPage || n.Data == "main"
		if n.Data != "a" {
			continue
		}
		for _, a := range n.Attr {
			if a.Key != "href" {
				continue
			}
			if to, err := here.Parse(a.Val); err == nil && to.Host == here.Host && strings.HasPrefix(to.Path, frame.Base) {
				links = append(links, to.RequestURI())
			}
		}
	}
	return links, isPage, nil
}

// time requests the addresses of a page in turn, on some connections at once.
func (v *consoleVisitor) time(ctx context.Context, page *consolePage, requests int) error {
	var mu sync.Mutex
	page.status = map[int]int{}
	group, ctx := errgroup.WithContext(ctx)
	for conn := range consoleConns {
		group.Go(func() error {
			client := plainClient()
			defer client.CloseIdleConnections()
			for n := conn; n < requests+consoleConns; n += consoleConns {
				began := time.Now()
				status, _, err := v.get(ctx, client, page.addresses[n%len(page.addresses)])
				took := time.Since(began)
				if err != nil {
					return fmt.Errorf("%s: %w", page.pattern, err)
				}
				mu.Lock()
				page.status[status]++
				if n >= consoleConns { // the first warms the connection
					page.times.Times = append(page.times.Times, took)
				}
				mu.Unlock()
			}
			return nil
		})
	}
	err := group.Wait()
	slices.Sort(page.times.Times)
	return err
}

// measureFirst adds up what a browser loads for the first page, without pictures.
func (v *consoleVisitor) measureFirst(ctx context.Context) error {
	client := plainClient()
	defer client.CloseIdleConnections()
	_, page, err := v.get(ctx, client, frame.Base)
	if err != nil {
		return err
	}
	unpacked, err := gzip.NewReader(strings.NewReader(string(page)))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return err
	}
	sum := len(page)
	assets := regexp.MustCompile(`(?:href|src)="(`+frame.Base+`/assets/[^"]+\.(?:css|js)[^"]*)"`).FindAllStringSubmatch(string(text), -1)
	if len(assets) == 0 {
		return errors.New("the first page names no style and script")
	}
	for _, asset := range assets {
		_, packed, err := v.get(ctx, client, html.UnescapeString(asset[1]))
		if err != nil {
			return err
		}
		sum += len(packed)
	}
	mark := "met"
	if sum > firstTarget {
		mark = "missed"
	}
	fmt.Printf("| first load, with style and script | %d bytes compressed | | | %d bytes | %s |\n", sum, firstTarget, mark)
	return nil
}
