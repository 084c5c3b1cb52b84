package tolerance

// valuePool keeps values until all their readers have read them, in memory that is used again.
type valuePool struct {
	values  []value
	readers []uint8 // how many are to come; 255: more than are counted
	free    []uint32
}

const manyReaders = 255

// keep stores a value for a number of readers and returns its name.
func (p *valuePool) keep(v value, readers int) uint32 {
	if readers >= fanMany { // such numbers are not exact
		readers = manyReaders
	}
	if n := len(p.free); n > 0 {
		name := p.free[n-1]
		p.free = p.free[:n-1]
		p.values[name], p.readers[name] = v, uint8(readers)
		return name
	}
	p.values, p.readers = append(p.values, v), append(p.readers, uint8(readers))
	return uint32(len(p.values) - 1)
}

// read returns a value to one of its readers.
func (p *valuePool) read(name uint32) value {
	v := p.values[name]
	if readers := &p.readers[name]; *readers != manyReaders {
		if *readers--; *readers == 0 {
			p.free = append(p.free, name)
		}
	}
	return v
}
