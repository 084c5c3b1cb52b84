//go:build race

package needed

// raceDetector reports whether the race detector is on: make test runs some packages with it and -short.
const raceDetector = true
