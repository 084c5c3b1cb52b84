package cluster

import "errors"

// ErrGarbled is what an engine returns if what another process sent makes no sense to it.
var ErrGarbled = errors.New("what another process of the job sent makes no sense; do all of them run the same version?")
