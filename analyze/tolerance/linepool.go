package tolerance

// linePool keeps short lists of lines for a while, in memory that is used again.
type linePool struct {
	small, large         []line  // pieces of smallList and maxList lines
	freeSmall, freeLarge []int32 // pieces that are not in use
	lengths              [2][]uint8
}

const (
	smallList = 4
	maxList   = 16 // lists are no longer than this: they are copied when they go to their reader
)

// keep stores a list of at most maxList lines and returns its name, which is negative.
func (p *linePool) keep(lines []line) int32 {
	size, pieces, free, isLarge := smallList, &p.small, &p.freeSmall, int32(0)
	if len(lines) > smallList {
		size, pieces, free, isLarge = maxList, &p.large, &p.freeLarge, 1
	}
	lengths := &p.lengths[isLarge]
	var at int32
	if n := len(*free); n > 0 {
		at, *free = (*free)[n-1], (*free)[:n-1]
	} else {
		at = int32(len(*lengths))
		*pieces = append(*pieces, make([]line, size)...)
		*lengths = append(*lengths, 0)
	}
	copy((*pieces)[int(at)*size:], lines)
	(*lengths)[at] = uint8(len(lines))
	return ^(at<<1 | isLarge)
}

// release returns a list and forgets it. It is valid until the next call of keep.
func (p *linePool) release(name int32) []line {
	at, isLarge := ^name>>1, ^name&1
	n := int(p.lengths[isLarge][at])
	if isLarge == 0 {
		p.freeSmall = append(p.freeSmall, at)
		return p.small[int(at)*smallList:][:n]
	}
	p.freeLarge = append(p.freeLarge, at)
	return p.large[int(at)*maxList:][:n]
}
