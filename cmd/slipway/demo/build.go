package demo

import (
	"context"
	"fmt"
	"image/color"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
)

// Package names and the app of each.
const (
	lampsPackage   = "org.slipway.demo.lamps"
	courierPackage = "org.slipway.demo.courier"
)

// release is a version of an app.
type release struct {
	pkg     string
	version string
	code    uint32
	tags    string
	notes   string
	days    int // how many days ago its users got it; its build is of now
}

// releases are the builds, oldest first.
var releases = []release{
	{lampsPackage, "2.0.0", 200, "stable", "The **new cart**. Search by colour.", 40},
	{lampsPackage, "2.0.1", 201, "stable", "Fixes the total of an empty cart.", 26},
	{lampsPackage, "2.1.0", 210, "beta", "Pay with a card on file.\n\n- less to type\n- a receipt by mail", 20},
	{lampsPackage, "2.1.1", 211, "stable", "Fixes the receipt for orders of more than ten lamps.", 16},
	{lampsPackage, "2.2.0", 220, "beta", "Pictures load while you scroll.", 10},
	{lampsPackage, "2.2.1", 221, "stable", "Less memory for pictures.", 6},
	{lampsPackage, "2.3.0", 230, "beta,nightly", "Try a lamp in your room with the **camera**.", 2},
	{courierPackage, "1.0.0", 100, "stable", "The first version for couriers.", 40},
	{courierPackage, "1.1.0", 110, "stable", "Routes without a connection.", 15},
	{courierPackage, "1.2.0", 120, "beta", "A signature instead of a PIN.", 4},
}

func releasesOf(pkg string) (list []release) {
	for _, r := range releases {
		if r.pkg == pkg {
			list = append(list, r)
		}
	}
	return list
}

// appOf describes the package of a release.
func appOf(r release, seed uint64) app {
	a := app{pkg: r.pkg, name: "Lamps", version: r.version, code: r.code, native: true, hue: color.NRGBA{32, 84, 147, 255},
		permissions: []string{"INTERNET", "ACCESS_NETWORK_STATE"}}
	if r.pkg == courierPackage {
		a.name, a.native, a.hue = "Lamps Courier", false, color.NRGBA{150, 74, 20, 255}
		a.permissions = append(a.permissions, "ACCESS_FINE_LOCATION", "FOREGROUND_SERVICE")
	}
	if r.code >= 220 {
		a.permissions = append(a.permissions, "POST_NOTIFICATIONS")
	}
	if r.code >= 230 {
		a.permissions = append(a.permissions, "CAMERA")
	}
	random := rand.New(rand.NewPCG(seed, uint64(r.code)))
	var catalog strings.Builder
	for range 200 {
		fmt.Fprintf(&catalog, "{\"lamp\":%d,\"cents\":%d}\n", random.IntN(100_000), 100*random.IntN(500))
	}
	a.payload = []byte(catalog.String())
	return a
}

// mappingID is the id by which crashes of a release find its mapping.
func (r release) mappingID() string { return fmt.Sprintf("demo%04x", r.code) }

// mapping is what R8 would write for a release: its names are others in each.
func (r release) mapping() []byte {
	return []byte(fmt.Sprintf(`# compiler: R8
# pg_map_id: %s
org.slipway.demo.lamps.cart.Cart -> a.b:
    3:3:int org.slipway.demo.lamps.cart.Price.cents():21:21 -> a
    3:3:void add(org.slipway.demo.lamps.Item):%d -> a
    5:5:void restore(android.os.Bundle):%d:%d -> b
org.slipway.demo.lamps.checkout.Checkout -> a.c:
    7:7:void pay(org.slipway.demo.lamps.Card):%d:%d -> a
    9:9:void onClick(android.view.View):31:31 -> b
org.slipway.demo.lamps.picture.Loader -> a.d:
    4:4:android.graphics.Bitmap decode(byte[]):58:58 -> a
    6:6:void run():33:33 -> b
`, r.mappingID(), 40+r.code%10, 70, 70, 100+r.code%10, 100+r.code%10))
}

// project is the app as the API shows it.
type project struct {
	ID      int64  `json:"id"`
	Package string `json:"package_name"`
}

// project returns the app of a package name; 0: there is none.
func (c *client) project(ctx context.Context, pkg string) (int64, error) {
	var list struct {
		Projects []project `json:"projects"`
	}
	if err := c.get(ctx, "/api/v3/projects", url.Values{"search": {pkg}}, &list); err != nil {
		return 0, err
	}
	for _, p := range list.Projects {
		if p.Package == pkg {
			return p.ID, nil
		}
	}
	return 0, nil
}

// versions returns the ids of the builds of an app by their version.
func (c *client) versions(ctx context.Context, app int64) (map[string]int64, error) {
	var list struct {
		Builds []struct {
			ID      int64  `json:"id"`
			Version string `json:"version"`
		} `json:"builds"`
	}
	if err := c.get(ctx, fmt.Sprintf("/api/v3/projects/%d/builds", app), url.Values{"per_page": {"100"}}, &list); err != nil {
		return nil, err
	}
	byVersion := map[string]int64{}
	for _, b := range list.Builds {
		byVersion[b.Version] = b.ID
	}
	return byVersion, nil
}

// builds uploads what is not there, the oldest first: the newest upload is the newest build.
func (f *filler) builds(ctx context.Context) (string, error) {
	known := map[string]map[string]int64{}
	for _, pkg := range []string{lampsPackage, courierPackage} {
		id, err := f.project(ctx, pkg)
		if err != nil {
			return "", err
		}
		if known[pkg] = map[string]int64{}; id == 0 {
			continue
		}
		f.apps[pkg] = id
		if known[pkg], err = f.versions(ctx, id); err != nil {
			return "", err
		}
	}
	added := 0
	for _, r := range releases {
		if known[r.pkg][r.version] != 0 {
			continue
		}
		if err := f.uploadBuild(ctx, r); err != nil {
			return "", fmt.Errorf("%s %s: %w", r.pkg, r.version, err)
		}
		added++
	}
	return fmt.Sprintf("%d builds of 2 apps", added), nil
}

func (f *filler) uploadBuild(ctx context.Context, r release) error {
	content, err := buildAPK(appOf(r, f.config.Seed), f.key)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%s", r.pkg[strings.LastIndex(r.pkg, ".")+1:], r.version)
	parts := []part{{"file", name + ".apk", content}}
	if r.pkg == lampsPackage {
		parts = append(parts, part{"symbols_file", name + "-mapping.txt", r.mapping()})
	}
	var answer struct {
		Build struct {
			ID        int64 `json:"id"`
			ProjectID int64 `json:"project_id"`
		} `json:"build"`
	}
	values := map[string]string{"release_notes": r.notes, "tags": r.tags, "auto_update": "on",
		"metadata.commit": fmt.Sprintf("%08x", r.code*2654435761), "metadata.branch": "main", "team_id": strconv.FormatInt(f.team, 10)}
	err = f.upload(ctx, "/api/v3/builds/upload", values, parts, nil, &answer)
	if err != nil {
		return err
	}
	f.apps[r.pkg] = answer.Build.ProjectID
	return nil
}

// waitForSymbols waits until the files of a list are read.
func (f *filler) waitForSymbols(ctx context.Context, query url.Values) error {
	query.Set("per_page", strconv.Itoa(100))
	return until(ctx, "the reading of the symbols", func() (bool, error) {
		var list struct {
			Symbols []struct {
				Name  string `json:"name"`
				State string `json:"state"`
			} `json:"symbols"`
		}
		if err := f.get(ctx, "/api/v3/symbols", query, &list); err != nil {
			return false, err
		}
		for _, s := range list.Symbols {
			if s.State == "failed" {
				return false, fmt.Errorf("the symbol file %s could not be read", s.Name)
			}
			if s.State != "indexed" {
				return false, nil
			}
		}
		return len(list.Symbols) > 0, nil
	})
}
