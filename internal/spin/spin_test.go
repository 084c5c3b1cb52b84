package spin

import "testing"

func BenchmarkPause(b *testing.B) {
	for b.Loop() {
		Pause()
	}
}
