package kineto

import "bytes"

// communicationOf reads the arguments of communication.
func communicationOf(args []byte) (commArgs, error) {
	a := noArgs
	numbers := map[string]*int64{
		"In msg nelems": &a.in, "Out msg nelems": &a.out, "Group size": &a.size, "Global rank start": &a.start, "Global rank stride": &a.stride,
		"Rank": &a.root, "Src Rank": &a.source, "Dst Rank": &a.destination, "Seq": &a.sequence,
	}
	texts := map[string]*string{
		"Collective name": &a.collective, "Process Group Name": &a.group, "Process Group Ranks": &a.ranks, "dtype": &a.dtype,
	}
	var seen values
	err := members(args, func(key, v []byte) error {
		if to := numbers[string(key)]; to != nil {
			if n, ok := integer(v); ok {
				*to = n
			}
		} else if to := texts[string(key)]; to != nil {
			*to = string(unquoted(v))
		} else {
			return nil
		}
		return seen.once(key, v)
	})
	return a, err
}

// values are the members of an object that were seen: a few.
type values []struct{ key, v []byte }

// once notes a member and refuses one that is there twice, with two values.
func (s *values) once(key, v []byte) error {
	for _, x := range *s {
		if bytes.Equal(x.key, key) {
			return once(key, x.v, v)
		}
	}
	*s = append(*s, struct{ key, v []byte }{key, v})
	return nil
}

// fill takes what is missing from other arguments.
func (a *commArgs) fill(b *commArgs) {
	numbers := func(a *commArgs) []*int64 {
		return []*int64{&a.in, &a.out, &a.size, &a.start, &a.stride, &a.root, &a.source, &a.destination, &a.sequence}
	}
	from := numbers(b)
	for i, to := range numbers(a) {
		if *to < 0 {
			*to = *from[i]
		}
	}
	for to, from := range map[*string]string{&a.collective: b.collective, &a.group: b.group, &a.ranks: b.ranks, &a.dtype: b.dtype} {
		if *to == "" {
			*to = from
		}
	}
}
