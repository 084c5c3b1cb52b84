package scenario

import (
	"testing"
)

func TestCheckMemory(t *testing.T) {
	gib := func() (int64, bool) { return 1 << 30, true }
	unknown := func() (int64, bool) { return 0, false }
	if err := CheckMemory(1<<20, 1, gib); err != nil {
		t.Errorf("a million ranks in 1 GiB: %v", err)
	}
	if err := CheckMemory(1<<27, 1, unknown); err != nil {
		t.Errorf("unknown memory: %v", err)
	}
	err := CheckMemory(1<<27, 1, gib)
	if want := "134,217,728 ranks need at least 20.0 GiB of memory, but only 1.0 GiB are free"; err == nil || err.Error() != want {
		t.Errorf("checkMemory = %v, want %s", err, want)
	}
	// Each of several processes on a host has all ranks.
	if err := CheckMemory(4<<20, 1, gib); err != nil {
		t.Errorf("4 million ranks in 1 GiB: %v", err)
	}
	err = CheckMemory(4<<20, 2, gib)
	if want := "4,194,304 ranks in each of 2 processes on a host need at least 1.2 GiB of memory, but only 1.0 GiB are free"; err == nil ||
		err.Error() != want {
		t.Errorf("checkMemory = %v, want %s", err, want)
	}
}
