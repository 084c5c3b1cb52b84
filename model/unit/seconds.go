package unit

// Seconds is the number of seconds with up to twelve decimals, never with an exponent.
func (d Duration) Seconds() string {
	dst, v := d.magnitude(make([]byte, 0, 24))
	return string(appendScaled(dst, v, uint64(Second)))
}
