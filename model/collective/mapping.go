package collective

// Mapping chooses algorithms.
type Mapping struct{}
