package unit

// Seconds is the number of seconds with up to twelve decimals, never with an exponent.
func (d Duration) Seconds() string {
	dst, v := d.magnitude(make([]byte, 0, 24))
	return string(appendScaled(dst, v, uint64(Second)))
}

// MarshalJSON returns the exact number of seconds: a Duration of a result is in JSON as seconds, with the suffix _s in
// its name. Use Nanoseconds for other units.
func (d Duration) MarshalJSON() ([]byte, error) { return []byte(d.Seconds()), nil }
