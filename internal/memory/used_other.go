//go:build !unix

package memory

import "time"

// Used is not known here.
func Used() (peak int64, cpu time.Duration, ok bool) { return 0, 0, false }
