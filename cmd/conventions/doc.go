// Package conventions tests what the sources, documents and scripts of this project keep to:
// who may import whom, how large packages are, how names and comments read, which links and
// files documents name, and that each guarantee has its tests. It has tests only.
//
// The tests read files and parse them. They import no package of the project, start no
// server and build no program, so they take seconds. What the programs that they run read, such
// as git ls-files, is unknown to the cache of go test: -count=1 leaves it out.
//
//	go test -count=1 ./cmd/conventions
//
// A test that fails names the file and the line, and what to do. The lists of what is
// allowed stand beside the test that reads them, each entry with its reason: tiers, leaves
// and confined (layout_test.go), rooms and sharedBelow (place_test.go), largePackages
// (size_test.go).
//
// What needs the command line of the program, such as the settings that documents name, is
// tested in cmd/slipway.
package conventions
