//go:build !linux || !(amd64 || arm64)

package child

// seal does nothing: see the package.
func seal(bool) {}
