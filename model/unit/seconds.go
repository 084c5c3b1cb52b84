package unit

// Seconds is a Duration that is in JSON as an exact number of seconds.
type Seconds Duration

// String is the number of seconds with up to twelve decimals, never with an exponent.
func (s Seconds) String() string {
	dst, v := Duration(s).magnitude(make([]byte, 0, 24))
	return string(appendScaled(dst, v, uint64(Second)))
}

// MarshalJSON returns the number of seconds with up to twelve decimals.
func (s Seconds) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }
