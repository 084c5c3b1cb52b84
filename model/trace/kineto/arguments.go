package kineto

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
	err := members(args, func(key, v []byte) error {
		if to := numbers[string(key)]; to != nil {
			if n, ok := integer(v); ok {
				*to = n
			}
		} else if to := texts[string(key)]; to != nil {
			*to = string(unquoted(v))
		}
		return nil
	})
	return a, err
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
