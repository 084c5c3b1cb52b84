//go:build !amd64 && !arm64

package spin

// Pause tells the core that this thread waits in a loop; there is no such instruction here.
func Pause() {}
