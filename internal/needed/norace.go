//go:build !race

package needed

// raceDetector reports whether the race detector is on.
const raceDetector = false
