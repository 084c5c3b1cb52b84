package paraver

// name numbers a name by the type and value of its event.
func (r *reader) name(kind, value int64) int32 {
	key := nameKey{kind, value}
	if i, ok := r.names[key]; ok {
		return i
	}
	i := r.named(r.labels.name(kind, value))
	r.names[key] = i
	return i
}

func (r *reader) named(label string) int32 {
	i, ok := r.byName[label]
	if !ok {
		i = int32(len(r.Names))
		r.Names = append(r.Names, label)
		r.byName[label] = i
	}
	return i
}

// stack is the call path that events name, level by level from the innermost function; 0 if there is none.
func (r *reader) stack(base int64, pairs []int64) int32 {
	depth := int64(0)
	for i := 0; i < len(pairs); i += 2 {
		level := pairs[i] - base
		if level < 1 || level > maxLevels || pairs[i+1] == 0 {
			continue
		}
		if !r.labels.has(pairs[i], pairs[i+1]) {
			r.unnamed++
			continue // an address without a name means something in its process only
		}
		for ; depth < level; depth++ {
			r.levels[depth+1] = 0
		}
		r.levels[level] = pairs[i+1]
	}
	stack := int32(0)
	for level := depth; level > 0; level-- {
		if r.levels[level] == 0 {
			continue
		}
		node := Stack{stack, r.name(base+level, r.levels[level])}
		next, ok := r.stacks[node]
		if !ok {
			next = int32(len(r.Stacks))
			r.Stacks = append(r.Stacks, node)
			r.stacks[node] = next
		}
		stack = next
	}
	return stack
}
